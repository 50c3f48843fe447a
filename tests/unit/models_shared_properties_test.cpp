// What must hold of the shared memory model whatever the addresses are.

#include "models/shared_memory.h"
#include "random_access.h"
#include "tests/testing.h"

namespace fathom::models {
namespace {

/// The rule as the header words it, word by word: what `shared_cost` must equal.
SharedCost counted(const WarpAccess& access) {
  const auto agree = [&](int flip) {
    for (int lane = 0; lane < warp_size; ++lane) {
      const int other = lane ^ flip;
      if (access.active(lane) && access.active(other) &&
          access.address[lane] != access.address[other])
        return false;
    }
    return true;
  };
  int lanes = access.bytes_per_lane <= 4 ? 32 : access.bytes_per_lane == 8 ? 16 : 8;
  if (lanes < 32 && access.op == Access::load && (agree(1) || agree(2))) lanes *= 2;
  SharedCost cost;
  std::set<std::uint64_t> all;
  for (int first = 0; first < warp_size; first += lanes) {
    std::array<std::set<std::uint64_t>, 32> banks;
    for (int lane = first; lane < first + lanes; ++lane) {
      for (int byte = 0; access.active(lane) && byte < access.bytes_per_lane; ++byte) {
        const std::uint64_t word = (access.address[lane] + static_cast<unsigned>(byte)) / 4;
        banks[word % 32].insert(word);
        all.insert(word);
      }
    }
    std::size_t busiest = 0;
    for (const auto& words : banks) busiest = std::max(busiest, words.size());
    cost.wavefronts += static_cast<int>(busiest);
    cost.groups += busiest != 0 ? 1 : 0;
  }
  cost.conflicts = cost.wavefronts - cost.groups;
  cost.clocks = access.active_mask == 0 ? 0 : std::max(cost.wavefronts, 32 / lanes);
  cost.minimum = static_cast<int>((all.size() + 31) / 32);
  return cost;
}

void require_same(const SharedCost& a, const SharedCost& b) {
  REQUIRE(a.wavefronts == b.wavefronts);
  REQUIRE(a.conflicts == b.conflicts);
  REQUIRE(a.groups == b.groups);
  REQUIRE(a.clocks == b.clocks);
  REQUIRE(a.minimum == b.minimum);
}

TEST_CASE("The cost equals the rule counted word by word", "[models]") {
  std::mt19937_64 random(20260701);
  for (int trial = 0; trial < 20000; ++trial) {
    const WarpAccess access = random_access(random);
    CAPTURE(trial, access.bytes_per_lane, access.active_mask);
    const SharedCost cost = counted(access);
    require_same(shared_cost(access), cost);
    REQUIRE(wavefronts(access) == cost.wavefronts);
  }
}

TEST_CASE("The explanation serves every lane once, with every word that it asks for", "[models]") {
  std::mt19937_64 random(20260702);
  for (int trial = 0; trial < 5000; ++trial) {
    const WarpAccess access = random_access(random);
    const SharedExplanation why = explain_shared(access);
    CAPTURE(trial, access.bytes_per_lane, access.active_mask);
    require_same(why.cost, shared_cost(access));
    REQUIRE(static_cast<int>(why.wavefronts.size()) == why.cost.wavefronts);
    std::array<std::set<std::uint64_t>, warp_size> got;
    std::set<int> groups;
    for (const SharedWavefront& wavefront : why.wavefronts) {
      groups.insert(wavefront.first_lane);
      std::uint32_t lanes = 0;
      for (int bank = 0; bank < shared_banks; ++bank) {
        if (wavefront.lanes[bank] == 0) continue;
        lanes |= wavefront.lanes[bank];
        REQUIRE(static_cast<int>(wavefront.word[bank] % shared_banks) == bank);
        for (int lane = 0; lane < warp_size; ++lane) {
          if ((wavefront.lanes[bank] >> lane & 1u) == 0) continue;
          REQUIRE(lane / why.group_lanes * why.group_lanes == wavefront.first_lane);
          REQUIRE(got[lane].insert(wavefront.word[bank]).second);
        }
      }
      REQUIRE(lanes != 0);  // no wavefront without work
    }
    REQUIRE(static_cast<int>(groups.size()) == why.cost.groups);
    for (int lane = 0; lane < warp_size; ++lane) {
      std::set<std::uint64_t> wanted;
      for (int byte = 0; access.active(lane) && byte < access.bytes_per_lane; ++byte)
        wanted.insert((access.address[lane] + static_cast<unsigned>(byte)) / 4);
      REQUIRE(got[lane] == wanted);
    }
  }
}

}  // namespace
}  // namespace fathom::models
