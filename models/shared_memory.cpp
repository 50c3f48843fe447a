#include "models/shared_memory.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "models/formatted.h"

namespace fathom::models {
namespace {

void validate_shared(const WarpAccess& access) {
  validate(access);
  const auto bytes = static_cast<std::uint64_t>(access.bytes_per_lane);
  for (int lane = 0; lane < warp_size; ++lane) {
    if (access.active(lane) && access.address[lane] > shared_address_limit - bytes) {
      throw std::invalid_argument(formatted(
          "lane %d: address %llu lies outside shared memory, which has at most %llu bytes", lane,
          static_cast<unsigned long long>(access.address[lane]),
          static_cast<unsigned long long>(shared_address_limit)));
    }
  }
}

/// Distinct words of a set of lanes, sorted into their banks.
class BankedWords {
 public:
  void add(const WarpAccess& access, std::uint32_t lanes) {
    const int words_per_lane = std::max(1, access.bytes_per_lane / shared_bank_bytes);
    for (int lane = 0; lane < warp_size; ++lane) {
      if ((lanes >> lane & 1u) == 0) continue;
      const auto first = static_cast<std::uint32_t>(access.address[lane] / shared_bank_bytes);
      for (int i = 0; i < words_per_lane; ++i) add(first + static_cast<std::uint32_t>(i));
    }
  }
  int busiest() const { return *std::max_element(count_.begin(), count_.end()); }
  int distinct() const { return distinct_; }

 private:
  void add(std::uint32_t word) {
    const std::uint32_t bank = word % shared_banks;
    const auto begin = words_[bank].begin();
    const auto end = begin + count_[bank];
    if (std::find(begin, end, word) != end) return;
    *end = word;
    ++count_[bank];
    ++distinct_;
  }
  // A warp has 32 lanes, and one lane puts no two words into the same bank.
  std::array<std::array<std::uint32_t, warp_size>, shared_banks> words_;
  std::array<int, shared_banks> count_{};
  int distinct_ = 0;
};

/// Whether lane i and lane i^flip agree on the address wherever both are in `lanes`.
bool pairs_agree(const WarpAccess& access, std::uint32_t lanes, int flip) {
  for (int lane = 0; lane < warp_size; ++lane) {
    const int other = lane ^ flip;
    if (other < lane || (lanes >> lane & 1u) == 0 || (lanes >> other & 1u) == 0) continue;
    if (access.address[lane] != access.address[other]) return false;
  }
  return true;
}

bool merges(const WarpAccess& access, std::uint32_t lanes) {
  return pairs_agree(access, lanes, 1) || pairs_agree(access, lanes, 2);
}

void add_group(SharedCost& cost, int wavefronts) {
  cost.wavefronts += wavefronts;
  cost.groups += wavefronts != 0 ? 1 : 0;
}

int group_wavefronts(const WarpAccess& access, std::uint32_t lanes) {
  if (lanes == 0) return 0;
  BankedWords words;
  words.add(access, lanes);
  return words.busiest();
}

/// `lanes` as its two halves, or as one group where the pairs agree and that is less.
void add_mergeable(SharedCost& cost, const WarpAccess& access, std::uint32_t lanes,
                   std::uint32_t lower_half) {
  const int lower = group_wavefronts(access, lanes & lower_half);
  const int upper = group_wavefronts(access, lanes & ~lower_half);
  if (lower != 0 && upper != 0 && merges(access, lanes)) {
    const int merged = group_wavefronts(access, lanes);
    if (merged < lower + upper) return add_group(cost, merged);
  }
  add_group(cost, lower);
  add_group(cost, upper);
}

}  // namespace

int shared_group_lanes(int bytes_per_lane) {
  return bytes_per_lane <= 4 ? 32 : 128 / bytes_per_lane;
}

SharedCost shared_cost(const WarpAccess& access) {
  validate_shared(access);
  SharedCost cost;
  const std::uint32_t lanes = access.active_mask;
  if (lanes == 0) return cost;
  if (access.bytes_per_lane <= 4) {
    add_group(cost, group_wavefronts(access, lanes));
  } else if (access.bytes_per_lane == 8) {
    add_mergeable(cost, access, lanes, 0x0000'ffffu);
  } else {
    add_mergeable(cost, access, lanes & 0x0000'ffffu, 0x0000'00ffu);
    add_mergeable(cost, access, lanes & 0xffff'0000u, 0x00ff'0000u);
  }
  cost.conflicts = cost.wavefronts - cost.groups;
  BankedWords all;
  all.add(access, lanes);
  cost.minimum = (all.distinct() + shared_banks - 1) / shared_banks;
  return cost;
}

}  // namespace fathom::models
