#include "probes/memory_bandwidth/walk.h"
#include "tests/testing.h"

using namespace fathom::memory_bandwidth;

namespace {

/// How often each tile of the working set is touched, by following the walk as the kernels do.
std::map<std::uint64_t, std::uint64_t> touches(const WalkShape& shape, const Walk& walk) {
  std::map<std::uint64_t, std::uint64_t> result;
  for (std::uint64_t block = 0; block < static_cast<std::uint64_t>(shape.blocks); ++block) {
    for (std::uint64_t warp = 0; warp < static_cast<std::uint64_t>(shape.warps); ++warp) {
      std::uint64_t p = walk.start(block, warp);
      for (int t = 0; t < walk.tiles; ++t) {
        ++result[p];
        p += walk.step;
        if (p >= block * walk.block_region + walk.span) p -= walk.span;
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("every walk touches every tile of its working set equally often",
          "[probes][memory_bandwidth]") {
  const auto sharing = GENERATE(Sharing::interleaved, Sharing::by_block, Sharing::by_all);
  const int blocks = GENERATE(1, 3, 8), warps = GENERATE(1, 4, 32);
  const std::uint64_t multiple = GENERATE(1, 2, 5, 33, 64);
  CAPTURE(static_cast<int>(sharing), blocks, warps, multiple);
  const WalkShape shape{sharing, blocks, warps, 2048};
  const std::uint64_t bytes = multiple * granule(shape);
  const auto found = touches(shape, plan_walk(shape, bytes, 3));
  CHECK(found.size() == bytes / shape.tile);
  CHECK(found.begin()->first == 0);
  CHECK(found.rbegin()->first == bytes - shape.tile);
  CHECK(std::ranges::all_of(found, [&](const auto& tile) {
    return tile.first % shape.tile == 0 && tile.second == 3 * touches_per_pass(shape);
  }));
}

TEST_CASE("blocks that share everything begin apart", "[probes][memory_bandwidth]") {
  const WalkShape shape{Sharing::by_all, 4, 2, 512};
  const Walk walk = plan_walk(shape, 16 * granule(shape), 1);
  CHECK(walk.start(0, 0) == 0);
  CHECK(walk.start(1, 0) == 4 * 2 * 512);
  CHECK(walk.start(3, 1) == 12 * 2 * 512 + 512);
}

TEST_CASE("SMs take their places even ones first", "[probes][memory_bandwidth]") {
  for (const auto& [sm, place] : {std::pair{0, 0}, {2, 1}, {130, 65}, {1, 66}, {131, 131}})
    CHECK(place_of_sm(sm, 132) == place);
  for (const std::uint32_t sms : {1u, 2u, 7u, 132u}) {
    std::set<std::uint32_t> places;
    for (std::uint32_t sm = 0; sm < sms; ++sm) places.insert(place_of_sm(sm, sms));
    CHECK(places.size() == sms);
    CHECK(*places.rbegin() == sms - 1);
  }
}
