#include "models/shared_memory.h"

#include <algorithm>
#include <array>
#include <bit>

#include "models/formatted.h"

namespace fathom::models {
namespace {

void validate_shared(const WarpAccess& access) {
  validate(access);
  const auto bytes = static_cast<std::uint64_t>(access.bytes_per_lane);
  for (int lane = 0; lane < warp_size; ++lane) {
    if (access.active(lane) && access.address[lane] > shared_address_limit - bytes) {
      throw LaneError(
          lane, formatted("address %lu lies outside shared memory, which has at most %lu bytes",
                          access.address[lane], shared_address_limit));
    }
  }
}

/// Distinct words of a set of lanes, sorted into their banks. A lane's 2 or 4 words always come
/// together, since addresses are multiples of the width: they are one *unit*, and 2 or 4
/// neighbouring banks one *column*.
class Columns {
 public:
  explicit Columns(const WarpAccess& access)
      : access_(access),
        unit_bytes_(std::max(shared_bank_bytes, access.bytes_per_lane)),
        unit_shift_(std::countr_zero(static_cast<unsigned>(unit_bytes_))),
        columns_(static_cast<std::uint32_t>(shared_banks * shared_bank_bytes / unit_bytes_)) {}

  /// `served(lane, n)`: the lane's unit is the n-th distinct one of its column, n from 0.
  template <typename Served>
  void add(std::uint32_t lanes, Served served) {
    for (; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      served(lane, add(static_cast<std::uint32_t>(access_.address[lane] >> unit_shift_)));
    }
  }
  int busiest() const { return busiest_; }
  int distinct_words() const { return distinct_ * (unit_bytes_ / shared_bank_bytes); }

 private:
  int add(std::uint32_t unit) {
    const std::uint32_t column = unit & (columns_ - 1);
    auto& units = units_[column];
    int& count = count_[column];
    for (int n = 0; n < count; ++n)
      if (units[n] == unit) return n;
    units[count] = unit;
    busiest_ = std::max(busiest_, count + 1);
    ++distinct_;
    return count++;
  }
  const WarpAccess& access_;
  int unit_bytes_, unit_shift_;
  std::uint32_t columns_;
  std::array<std::array<std::uint32_t, warp_size>, shared_banks> units_;
  std::array<int, shared_banks> count_{};
  int busiest_ = 0, distinct_ = 0;
};

/// Whether lane i and lane i^flip agree on the address wherever both are active.
bool pairs_agree(const WarpAccess& access, int flip) {
  for (int lane = 0; lane < warp_size; ++lane) {
    const int other = lane ^ flip;
    if (access.active(lane) && access.active(other) &&
        access.address[lane] != access.address[other])
      return false;
  }
  return true;
}

/// The rule itself. Fills `why`, except its cost, where somebody asks for it.
SharedCost cost_and_reason(const WarpAccess& access, SharedExplanation* why) {
  validate_shared(access);
  SharedCost cost;
  const std::uint32_t lanes = access.active_mask;
  if (lanes == 0) return cost;
  int group_lanes = shared_group_lanes(access.bytes_per_lane);
  const bool merged = group_lanes < warp_size && access.op == Access::load &&
                      (pairs_agree(access, 1) || pairs_agree(access, 2));
  if (merged) group_lanes *= 2;
  for (int first = 0; first < warp_size; first += group_lanes) {
    const std::uint32_t group = (all_lanes >> (warp_size - group_lanes)) << first;
    Columns columns(access);
    columns.add(lanes & group, [&](int lane, int n) {
      if (why == nullptr) return;
      const auto at = static_cast<std::size_t>(cost.wavefronts + n);
      if (why->wavefronts.size() <= at) why->wavefronts.resize(at + 1, {.first_lane = first});
      const auto word = static_cast<std::uint32_t>(access.address[lane] / shared_bank_bytes);
      for (int i = 0; i < std::max(1, access.bytes_per_lane / shared_bank_bytes); ++i) {
        const std::uint32_t one = word + static_cast<std::uint32_t>(i);
        why->wavefronts[at].lanes[one % shared_banks] |= 1u << lane;
        why->wavefronts[at].word[one % shared_banks] = one;
      }
    });
    cost.wavefronts += columns.busiest();
    cost.groups += columns.busiest() != 0 ? 1 : 0;
  }
  Columns all(access);
  all.add(lanes, [](int, int) {});
  cost.conflicts = cost.wavefronts - cost.groups;
  cost.clocks = std::max(cost.wavefronts, warp_size / group_lanes);
  cost.minimum = (all.distinct_words() + shared_banks - 1) / shared_banks;
  if (why != nullptr) {
    why->group_lanes = group_lanes;
    why->merged = merged;
  }
  return cost;
}

}  // namespace

int shared_group_lanes(int bytes_per_lane) {
  return bytes_per_lane <= 4 ? 32 : 128 / bytes_per_lane;
}

SharedCost shared_cost(const WarpAccess& access) { return cost_and_reason(access, nullptr); }

int wavefronts(const WarpAccess& access) { return shared_cost(access).wavefronts; }

SharedExplanation explain_shared(const WarpAccess& access) {
  SharedExplanation why;
  why.group_lanes = shared_group_lanes(access.bytes_per_lane);
  why.cost = cost_and_reason(access, &why);
  return why;
}

}  // namespace fathom::models
