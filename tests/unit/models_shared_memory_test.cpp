#include "models/shared_memory.h"

#include "random_access.h"
#include "tests/testing.h"

namespace fathom::models {
namespace {

struct Row {
  const char* claim;
  WarpAccess access;
  int wavefronts, conflicts;
  int clocks = 0;  ///< 0: as many as wavefronts
};

std::vector<Row> rows() {
  constexpr std::uint32_t half = 0xffffu;
  constexpr Access load = Access::load, store = Access::store;
  std::vector<Row> all{{"S4: lanes i and i^1 agree", paired(load, 8, 1), 1, 0},
                       {"S4: lanes i and i^4 do not merge", paired(load, 8, 4), 2, 0},
                       {"S5: quarters merge by pairs", paired(load, 16, 1), 2, 0},
                       {"S5: the halves never merge", broadcast(load, 16), 2, 0},
                       {"stores never merge", broadcast(store, 8), 2, 0}};
  for (const Access op : both) {
    // 32 words of a stride fall into 32 / gcd(stride, 32) banks.
    for (int stride = 1; stride <= 32; ++stride) {
      const int ways = std::gcd(stride, 32);
      all.push_back({"S2", strided(op, 4, static_cast<std::uint64_t>(stride) * 4), ways, ways - 1});
    }
    for (const Row& row : std::initializer_list<Row>{
             {"S2: both half-warps take the same words", grouped(op, 4, 16, 0), 1, 0},
             {"S2: the same banks at other words", grouped(op, 4, 16, 128), 2, 1},
             {"S3, S6: contiguous doubles", strided(op, 8, 8), 2, 0},
             {"S3: a column of doubles", strided(op, 8, 128), 32, 30},
             {"S3: a half-warp alone", masked(strided(op, 8, 8), half), 1, 0, 2},
             {"S8: padded", tile_column(op, {.padding_elements = 1}, 3), 1, 0},
             {"S8: plain", tile_column(op, {}, 3), 32, 31},
             {"S8: a swizzled column", tile_column(op, {.xor_swizzle = true}, 31), 1, 0},
             {"S8: a swizzled row", tile_row(op, {.xor_swizzle = true}, 31), 1, 0}})
      all.push_back(row);
  }
  return all;
}

TEST_CASE("S2 to S6, S8: accesses cost the wavefronts that the claims give them", "[models]") {
  for (const Row& row : rows()) {
    CAPTURE(row.claim, row.access.op == Access::load, row.access.bytes_per_lane);
    const SharedCost cost = shared_cost(row.access);
    CHECK(cost.wavefronts == row.wavefronts);
    CHECK(cost.conflicts == row.conflicts);
    CHECK(cost.clocks == (row.clocks == 0 ? row.wavefronts : row.clocks));
  }
  CHECK(shared_cost(broadcast(Access::load, 16)).minimum == 1);  // fewer than its two groups
}

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
  REQUIRE(std::tie(a.wavefronts, a.conflicts, a.groups, a.clocks, a.minimum) ==
          std::tie(b.wavefronts, b.conflicts, b.groups, b.clocks, b.minimum));
}

TEST_CASE("Cost and explanation are those of the rule counted word by word", "[models]") {
  std::mt19937_64 random(20260701);
  for (int trial = 0; trial < 20000; ++trial) {
    const WarpAccess access = random_access(random);
    CAPTURE(trial, access.bytes_per_lane, access.active_mask);
    const SharedCost cost = counted(access);
    require_same(shared_cost(access), cost);
    REQUIRE(wavefronts(access) == cost.wavefronts);
    if (trial % 4 != 0) continue;
    // Every lane is served once, with every word that it asks for.
    const SharedExplanation why = explain_shared(access);
    require_same(why.cost, cost);
    REQUIRE(static_cast<int>(why.wavefronts.size()) == cost.wavefronts);
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
    REQUIRE(static_cast<int>(groups.size()) == cost.groups);
    for (int lane = 0; lane < warp_size; ++lane) {
      std::set<std::uint64_t> wanted;
      for (int byte = 0; access.active(lane) && byte < access.bytes_per_lane; ++byte)
        wanted.insert((access.address[lane] + static_cast<unsigned>(byte)) / 4);
      REQUIRE(got[lane] == wanted);
    }
  }
}

TEST_CASE("Bad accesses to shared memory are refused with the lane named", "[models]") {
  const auto refused = [](const WarpAccess& access, const char* said) {
    CHECK_THROWS_MATCHES(shared_cost(access), std::invalid_argument,
                         MessageMatches(contains(said)));
  };
  refused(strided(Access::load, 3, 4), "not 3");
  refused(strided(Access::load, 32, 32), "not 32");
  WarpAccess access = strided(Access::load, 8, 8);
  access.address[5] = 44;
  refused(access, "lane 5");
  CHECK_NOTHROW(shared_cost(masked(access, ~(1u << 5))));
  access = strided(Access::load, 4, 4);
  for (const std::uint64_t beyond : {shared_address_limit, ~std::uint64_t{3}}) {
    access.address[31] = beyond;
    refused(access, "lane 31");
  }
  access.address[31] = shared_address_limit - 4;
  CHECK_NOTHROW(shared_cost(access));
}

TEST_CASE("Tiles refuse elements that they do not have", "[models]") {
  const Tile tile{.row_elements = 24, .xor_swizzle = true};
  CHECK_THROWS_MATCHES(tile.address(0, 0), std::invalid_argument,
                       MessageMatches(contains("power of two")));
  CHECK_THROWS_AS(Tile{}.address(0, 32), std::invalid_argument);
  CHECK_THROWS_AS(Tile{}.address(-1, 0), std::invalid_argument);
  CHECK_THROWS_AS(tile_row(Access::load, Tile{}, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(grouped(Access::load, 4, 5, 0), std::invalid_argument);
}

}  // namespace
}  // namespace fathom::models
