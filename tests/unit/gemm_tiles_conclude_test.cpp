// What is concluded from sweeps of sizes, whole tiles above all: claim T2.

#include "gemm/bench/conclude.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using enum ClaimVerdict;

namespace {

/// A product around multiples of a tile: how many waves the model says, and the cycles that it
/// took, at this clock.
Entry around_tiles(std::int64_t m, double waves, double cycles, const char* kernel = "tile<128>",
                   const char* type = "fp32", double clock_hz = 1e9) {
  Entry e = planted::entry(
      std::string("gemm/") + type + "/26_sliced_depth/" + std::to_string(m) + "/tiles",
      {{"part", "tiles"}, {"type", type}, {"rung", "26_sliced_depth"}, {"m", m}}, 1e12);
  e.real_time_s = cycles / clock_hz;
  e.timing.sm_clock_hz = clock_hz;
  e.extras = {{"flop", 1e9}, {"tile_efficiency", 1 / waves}};
  e.notes = {{"kernel", kernel}};
  return e;
}

Claim tiles_claim(const std::vector<Entry>& entries) {
  return planted::claim(gemm::conclude(entries).claims, "T2");
}

}  // namespace

TEST_CASE("a product just past a tile pays for it if its cycles jump as whole tiles do", "[gemm]") {
  const auto jump = [](double before, double after) {
    return std::vector{around_tiles(3072, 3, before), around_tiles(3088, 4, after),
                       around_tiles(3200, 4, after)};
  };
  planted::check_verdicts(
      gemm::conclude, "T2",
      {{confirmed, jump(3e6, 4e6)},
       {confirmed, jump(3e6, 3.6e6)},
       {refuted, jump(3e6, 3.05e6)},
       {not_measured, {around_tiles(3072, 3, 3e6)}},
       // A jump far from its neighbour, or that the model does not see, says nothing.
       {not_measured, {around_tiles(3072, 3, 3e6), around_tiles(3328, 4, 4e6)}},
       {not_measured, {around_tiles(3072, 4, 3e6), around_tiles(3088, 4, 4e6)}}});
  const Claim claim = tiles_claim({around_tiles(3072, 3, 3e6), around_tiles(3088, 4, 4e6)});
  CHECK_THAT(claim.figure, StartsWith("paid of the model's jump: fp32 100 %; fp32 by 1 jump") &&
                               contains("from m = 3072 to 3088 its cycles grow 1.333 x"));
  CHECK(claim.evidence.size() == 2);
}

TEST_CASE("what a tile costs is counted in cycles, whatever the clock did", "[gemm]") {
  // The cycles grow as whole waves do, and the time falls, since the clock was lower before.
  std::vector entries{around_tiles(3072, 3, 3e6, "tile", "fp32", 1.2e9),
                      around_tiles(3088, 4, 4e6, "tile", "fp32", 1.8e9)};
  REQUIRE(entries[1].real_time_s < entries[0].real_time_s);
  CHECK(tiles_claim(entries).verdict == confirmed);
  // NVML's median lags behind and is none.
  entries[0].timing.sm_clock_hz.reset();
  entries[0].telemetry.sm_clock_hz.median = 1.2e9;
  CHECK(tiles_claim(entries).verdict == not_measured);
}

TEST_CASE("jumps at which another kernel takes over say nothing of tiles", "[gemm]") {
  const std::vector entries{around_tiles(3072, 3, 3e6), around_tiles(3088, 4, 3e6, "other"),
                            around_tiles(3328, 4, 4e6), around_tiles(3344, 5, 5e6)};
  const Claim claim = tiles_claim(entries);
  CHECK(claim.verdict == confirmed);
  CHECK_THAT(claim.figure, contains("1 jump (from m = 3328 to 3344") &&
                               contains("1 more left out, where the kernel changes"));
  // Each kernel has a speed of its own in the model.
  CHECK_THAT(claim.figure, contains("all 4 sizes within 0 % of the model"));
  // A kernel that nobody could name may be another.
  const Claim unknown = tiles_claim({around_tiles(3072, 3, 3e6, "unknown: no driver"),
                                     around_tiles(3088, 4, 4e6, "unknown: no driver")});
  CHECK(unknown.verdict == not_measured);
  CHECK_THAT(unknown.figure, contains("fp32 is left out: where its model jumps, the kernel"));
}
