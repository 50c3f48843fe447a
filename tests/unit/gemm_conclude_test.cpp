// What is concluded of the ladders where recordings do not say it (recording_conclude_test.cpp),
// nor how far their figures may move (claims_conclude_test.cpp).

#include "gemm/bench/conclude.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using namespace fathom::gemm;
using enum ClaimVerdict;
using planted::opponent;
using planted::view;

namespace {

Entry entry(const char* rung, double throughput, std::int64_t size = ladder_size,
            const char* type = "fp32", const char* part = "ladder") {
  return planted::entry(std::string("gemm/") + type + "/" + rung + std::to_string(size) + part,
                        {{"part", part},
                         {"type", type},
                         {"rung", rung},
                         {"layout", "NN"},
                         {"m", size},
                         {"n", size},
                         {"k", size},
                         {"alpha", 1.0},
                         {"beta", 0.0}},
                        throughput);
}

Entry contender(double throughput) {
  Entry e = entry("26_sliced_depth", throughput);
  e.opponents = {opponent("cuBLAS", 50e12, throughput / 50e12),
                 opponent("cuBLASLt, best of 32", 51e12, throughput / 51e12)};
  return e;
}

Claim claim(const std::vector<Entry>& entries, const char* id) {
  return planted::claim(gemm::conclude(entries).claims, id);
}

void check_verdicts(const char* id, const std::vector<planted::VerdictOf>& rows) {
  planted::check_verdicts(gemm::conclude, id, rows);
}

/// A product around multiples of a tile: how many waves the model says, and the cycles that it
/// took, at this clock.
Entry around_tiles(std::int64_t m, double waves, double cycles, const char* kernel = "tile<128>",
                   double clock_hz = 1e9) {
  Entry e = planted::entry(
      "gemm/fp32/26_sliced_depth/" + std::to_string(m) + "/tiles",
      {{"part", "tiles"}, {"type", "fp32"}, {"rung", "26_sliced_depth"}, {"m", m}}, 1e12);
  e.real_time_s = cycles / clock_hz;
  e.timing.sm_clock_hz = clock_hz;
  e.extras = {{"flop", 1e9}, {"tile_efficiency", 1 / waves}};
  e.notes = {{"kernel", kernel}};
  return e;
}

constexpr auto naive = "row_major/01_naive";

}  // namespace

TEST_CASE("the answer names the fastest rung and the faster library's ratio", "[gemm]") {
  const auto answer = [](const std::vector<Entry>& entries) {
    return gemm::conclude(entries).answer;
  };
  CHECK_THAT(answer({entry(naive, 1e12)}), contains("no vendor's library"));
  // The fastest rung may be one that was not timed beside the library.
  CHECK_THAT(answer({entry("21_wide_thread_tile", 57e12), contender(56.1e12)}),
             contains("57 TFLOP/s by 21_wide_thread_tile, with 26_sliced_depth at 1.100 x the "
                      "vendor's"));
  CHECK(answer({}).empty());
}

TEST_CASE("where no wavefront was counted nobody knows of conflicts", "[gemm]") {
  Entry tiles = entry("01_shared_memory", 3e12, ladder_size, "fp64");
  for (const char* role : {"shared_load_wavefronts", "shared_load_conflicts",
                           "shared_store_wavefronts", "shared_store_conflicts"})
    planted::add_counter(tiles, role, 0);
  check_verdicts("S7", {{not_measured, {tiles}}});
}

TEST_CASE("pictures have the peak at the samples' own clock, else at NVML's", "[gemm]") {
  Entry top = contender(56e12);
  top.bound = Bound{66.9e12, "planted", 1980e6};
  const auto second_level = [&] {
    const auto views = gemm::conclude(std::vector{entry(naive, 1e12), top}).views;
    return std::ranges::find(views, View::Kind::plot, &View::kind)->levels.at(1).label;
  };
  top.telemetry.sm_clock_hz.median = 1500e6;
  CHECK(second_level() == "peak at the top rung's 1.5 GHz");
  top.timing.sm_clock_hz = 1750e6;
  CHECK(second_level() == "peak at the top rung's 1.75 GHz");
  // Where only the quick suite's size was measured, that is the page's.
  const Findings quick = gemm::conclude(std::vector{entry(naive, 1e12, 1024)});
  CHECK_THAT(quick.answer, contains("At 1024³"));
  CHECK_FALSE(quick.views.empty());
}

TEST_CASE("a product that was asked for has its figures and counters on the page", "[gemm]") {
  const auto asked = [](const char* rung, double throughput, const char* unit = "FLOP/s") {
    Entry e = entry(rung, throughput, 100, "fp32", "request");
    e.metric.unit = unit;
    return e;
  };
  Entry top = asked("26_sliced_depth", 40e12);
  top.opponents = {opponent("cuBLAS", 50e12, 0.8)};
  const std::vector two{asked(naive, 1e12), top};
  CHECK(gemm::conclude(two).answer ==
        "fp32 NN 100x100x100: 40 TFLOP/s by 26_sliced_depth, 0.800 x the vendor's library.");
  const auto views = gemm::conclude(std::vector{top}).views;
  CHECK_NOTHROW(view(gemm::conclude(two).views, "Throughput by rung: fp32 NN 100x100x100"));
  CHECK_NOTHROW(view(views, "What each rung takes: fp32 NN 100x100x100"));
  CHECK_THROWS(view(views, "Throughput by rung: fp32 NN 100x100x100"));
  // Without work there is a time, and nothing to compare.
  CHECK(gemm::conclude(std::vector{asked(naive, 1e-6, "s")}).answer.empty());
}

TEST_CASE("T2: a product just past a tile pays for it if its cycles jump as whole tiles do",
          "[gemm]") {
  // The cycles grow as whole waves do, and the time falls, since the clock was lower before.
  const std::vector slow{around_tiles(3072, 3, 3e6, "tile", 1.2e9),
                         around_tiles(3088, 4, 4e6, "tile", 1.8e9)};
  REQUIRE(slow[1].real_time_s < slow[0].real_time_s);
  auto without_clock = slow;
  without_clock[0].timing.sm_clock_hz.reset();
  without_clock[0].telemetry.sm_clock_hz.median = 1.2e9;  // NVML's lags behind and is none
  check_verdicts("T2",
                 {{confirmed, slow},
                  {not_measured, without_clock},
                  {not_measured, {around_tiles(3072, 3, 3e6)}},
                  // A jump far from its neighbour, or that the model does not see, says nothing.
                  {not_measured, {around_tiles(3072, 3, 3e6), around_tiles(3328, 4, 4e6)}},
                  {not_measured, {around_tiles(3072, 4, 3e6), around_tiles(3088, 4, 4e6)}}});
  // Nor do jumps at which another kernel takes over, or one that nobody could name.
  const Claim found = claim({around_tiles(3072, 3, 3e6), around_tiles(3088, 4, 3e6, "other"),
                             around_tiles(3328, 4, 4e6), around_tiles(3344, 5, 5e6)},
                            "T2");
  CHECK(found.verdict == confirmed);
  CHECK_THAT(found.figure, contains("1 jump (from m = 3328 to 3344") &&
                               contains("1 more left out, where the kernel changes") &&
                               contains("all 4 sizes within 0 % of the model"));
  const Claim unknown = claim({around_tiles(3072, 3, 3e6, "unknown: no driver"),
                               around_tiles(3088, 4, 4e6, "unknown: no driver")},
                              "T2");
  CHECK(unknown.verdict == not_measured);
  CHECK_THAT(unknown.figure, contains("fp32 is left out: where its model jumps, the kernel"));
}
