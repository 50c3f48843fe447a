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

bool merges(const WarpAccess& access) {
  return access.op == Access::load && (pairs_agree(access, access.active_mask, 1) ||
                                       pairs_agree(access, access.active_mask, 2));
}

int group_wavefronts(const WarpAccess& access, std::uint32_t lanes) {
  if (lanes == 0) return 0;
  BankedWords words;
  words.add(access, lanes);
  return words.busiest();
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
  int group_lanes = shared_group_lanes(access.bytes_per_lane);
  if (group_lanes < warp_size && merges(access)) group_lanes *= 2;
  for (int first = 0; first < warp_size; first += group_lanes) {
    const std::uint32_t group = (all_lanes >> (warp_size - group_lanes)) << first;
    const int wavefronts = group_wavefronts(access, lanes & group);
    cost.wavefronts += wavefronts;
    cost.groups += wavefronts != 0 ? 1 : 0;
  }
  cost.conflicts = cost.wavefronts - cost.groups;
  cost.clocks = std::max(cost.wavefronts, warp_size / group_lanes);
  BankedWords all;
  all.add(access, lanes);
  cost.minimum = (all.distinct() + shared_banks - 1) / shared_banks;
  return cost;
}

}  // namespace fathom::models
