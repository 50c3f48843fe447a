// What is concluded from sweeps of sizes, whole tiles above all: claim T2, its pictures and tables.

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
  CHECK_THAT(claim.figure, contains("fp32 pays 100 %") &&
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
  CHECK_THAT(claim.figure, contains("one jump; from m = 3328 to 3344") &&
                               contains("1 more left out, where the kernel changes"));
  // Each kernel has a speed of its own in the model.
  CHECK_THAT(claim.figure, contains("all 4 sizes are within 0 % of that model"));
  // A kernel that nobody could name may be another.
  const Claim unknown =
      tiles_claim({around_tiles(3072, 3, 3e6, ""), around_tiles(3088, 4, 4e6, "")});
  CHECK(unknown.verdict == not_measured);
  CHECK_THAT(unknown.figure, contains("fp32 is left out: where its model jumps, the kernel"));
}

TEST_CASE("of many jumps the median counts, and types that have none are named", "[gemm]") {
  // Two of three pay, and the third, disturbed, falls by more than both rose.
  const std::vector entries{around_tiles(3072, 3, 3e6),
                            around_tiles(3088, 4, 4e6),
                            around_tiles(3328, 4, 4e6),
                            around_tiles(3344, 5, 5e6),
                            around_tiles(3584, 5, 40e6),
                            around_tiles(3600, 6, 6e6),
                            around_tiles(3072, 24, 1e6, "tile", "fp64"),
                            around_tiles(3088, 25, 1e6, "tile", "fp64")};
  const Claim claim = tiles_claim(entries);
  CHECK(claim.verdict == confirmed);
  CHECK_THAT(
      claim.figure,
      contains("the median of 3 jumps") &&
          contains(
              "fp64 is left out: no jump of its model reaches 1.05 x (the largest is 1.042 x)"));
}

TEST_CASE("the pictures and tables of sweeps tell the clock apart from the kernel", "[gemm]") {
  const std::vector entries{around_tiles(3072, 3, 3e6), around_tiles(3088, 4, 4e6),
                            around_tiles(3200, 4, 4e6), around_tiles(3328, 4, 9e6, "other")};
  Entry large = entries[0];
  planted::set_axis(large, "part", "sizes");
  const auto view = [&](const std::string& title) {
    std::vector<Entry> all = entries;
    all.push_back(large);
    return planted::view(gemm::conclude(all).views, title);
  };
  const View picture = view("Throughput a cycle around multiples of the tile: fp32");
  CHECK(picture.y == "metric_per_cycle");
  // One tooth: the last size ran another kernel. 1e9 FLOP in 4e6 cycles.
  REQUIRE(picture.stretches.size() == 1);
  CHECK(picture.stretches[0].first_x == 3088);
  CHECK(picture.stretches[0].last_x == 3200);
  CHECK(std::abs(picture.stretches[0].last_y - 250) < 1e-9);
  for (const char* title :
       {"What whole tiles and waves cost: fp32", "Throughput by size, in figures: fp32"}) {
    const View table = view(title);
    CHECK(table.kind == View::Kind::table);
    CHECK(table.section == "fp32");
    for (const char* column : {"sm_clock", "throttle_reasons", "of_bound_at_clock"})
      CHECK(std::ranges::find(table.columns, column) != table.columns.end());
  }
}
