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
struct Columns {
  int busiest = 0, distinct_words = 0;
  std::array<int, warp_size> order;  ///< by lane: its unit is the n-th distinct one of its column

  Columns(const WarpAccess& access, std::uint32_t lanes) {
    const int words = std::max(1, access.bytes_per_lane / shared_bank_bytes);
    const int unit_shift = std::countr_zero(static_cast<unsigned>(words * shared_bank_bytes));
    const auto columns = static_cast<std::uint32_t>(shared_banks / words);
    std::array<std::array<std::uint32_t, warp_size>, shared_banks> units;
    std::array<int, shared_banks> count{};
    for (; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      const auto unit = static_cast<std::uint32_t>(access.address[lane] >> unit_shift);
      auto& known = units[unit & (columns - 1)];
      int& n = count[unit & (columns - 1)];
      order[lane] =
          static_cast<int>(std::find(known.begin(), known.begin() + n, unit) - known.begin());
      if (order[lane] < n) continue;
      known[n++] = unit;
      busiest = std::max(busiest, n);
      distinct_words += words;
    }
  }
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
    const Columns columns(access, lanes & group);
    for (std::uint32_t left = why ? lanes & group : 0; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const auto at = static_cast<std::size_t>(cost.wavefronts + columns.order[lane]);
      if (why->wavefronts.size() <= at) why->wavefronts.resize(at + 1, {.first_lane = first});
      const auto word = static_cast<std::uint32_t>(access.address[lane] / shared_bank_bytes);
      for (int i = 0; i < std::max(1, access.bytes_per_lane / shared_bank_bytes); ++i) {
        const std::uint32_t one = word + static_cast<std::uint32_t>(i);
        why->wavefronts[at].lanes[one % shared_banks] |= 1u << lane;
        why->wavefronts[at].word[one % shared_banks] = one;
      }
    }
    cost.wavefronts += columns.busiest;
    cost.groups += columns.busiest != 0 ? 1 : 0;
  }
  cost.conflicts = cost.wavefronts - cost.groups;
  cost.clocks = std::max(cost.wavefronts, warp_size / group_lanes);
  cost.minimum = (Columns(access, lanes).distinct_words + shared_banks - 1) / shared_banks;
  if (why != nullptr) {
    why->group_lanes = group_lanes;
    why->merged = merged;
  }
  return cost;
}

std::string sentence_of(const SharedExplanation& why) {
  const std::string groups =
      formatted("The warp is served in groups of %d lanes%s", why.group_lanes,
                why.merged ? ", twice the usual as pairs agree on an address" : "");
  if (why.cost.conflicts == 0) return groups + ", and no bank has two words to deliver to a group.";
  const auto words = [&](const SharedWavefront& one) {  // of a group's busiest bank
    return std::ranges::count(why.wavefronts, one.first_lane, &SharedWavefront::first_lane);
  };
  const SharedWavefront& most = *std::ranges::max_element(why.wavefronts, {}, words);
  return groups +
         formatted(
             "; a bank has %ld different words to deliver to lanes %d to %d, one a wavefront.",
             words(most), most.first_lane, most.first_lane + why.group_lanes - 1);
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
  why.sentence = sentence_of(why);
  return why;
}

std::string picture(const SharedExplanation& why) {
  std::string text = "        bank";
  for (int bank = 0; bank < shared_banks; ++bank) text += formatted("%3d", bank);
  text += "  lanes served\n";
  int number = 0;
  for (const SharedWavefront& wavefront : why.wavefronts) {
    text += formatted("wavefront%3d", number++);
    std::uint32_t served = 0;
    for (const std::uint32_t lanes : wavefront.lanes) {
      const char* others = std::popcount(lanes) > 1 ? "+" : "";
      const std::string lane = formatted("%s%d", others, std::countr_zero(lanes));
      text += formatted("%3s", lanes == 0 ? "." : lane.c_str());
      served |= lanes;
    }
    text += "  " + lane_list(served) + "\n";
  }
  if (text.find('+') != text.npos) text += "(+n: lane n and others get the same word)\n";
  return text;
}

}  // namespace fathom::models
