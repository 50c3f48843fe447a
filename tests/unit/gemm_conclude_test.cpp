// What is concluded of the ladders: verdicts on planted entries. The words of a claim and the views
// are held against recordings (recording_conclude_test.cpp).

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

Entry counted(const char* rung, double throughput,
              const std::vector<std::pair<const char*, double>>& counters,
              const char* type = "fp32") {
  Entry e = entry(rung, throughput, ladder_size, type);
  for (const auto& [role, value] : counters) planted::add_counter(e, role, value);
  return e;
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

constexpr auto naive = "row_major/01_naive", shared_memory = "row_major/03_shared_memory",
               tile_2d = "row_major/05_tile_2d";

}  // namespace

TEST_CASE("a ladder's step is judged, and its share of the faster library shown", "[gemm]") {
  const Entry library = contender(56e12), parent = entry("row_major/04_tile_1d", 17e12);
  check_verdicts("GR5", {{confirmed, {parent, entry(tile_2d, 30e12), library}},
                         {confirmed, {parent, entry(tile_2d, 18e12)}},
                         {refuted, {parent, entry(tile_2d, 17.5e12), library}},
                         {not_measured, {entry(tile_2d, 30e12), library}},
                         {not_measured, {parent, library}},
                         // Another size or type is no answer.
                         {not_measured, {parent, entry(tile_2d, 35e12, 1024), library}},
                         {not_measured, {parent, entry(tile_2d, 35e12, ladder_size, "fp64")}}});
  CHECK_THAT(claim({parent, entry(tile_2d, 0.5 * 51e12), library}, "GR5").figure,
             contains("1.50 x GR4 here, 57 % of the author's gain: ") &&
                 contains(", 50.0 % of the 51 TFLOP/s of cuBLASLt, best of 32"));
  // What gained nothing there may gain nothing, but must not cost.
  const auto two_buffers = [](double throughput) {
    return std::vector{entry("column_major/06_tile_128", 40e12),
                       entry("column_major/07_double_buffered", throughput)};
  };
  check_verdicts("GC7", {{confirmed, two_buffers(39e12)}, {refuted, two_buffers(37e12)}});
  check_verdicts("GR1", {{not_measured, {entry(naive, 1e12), library}}});
  CHECK_THAT(claim({entry(naive, 1e12), library}, "GR1").figure,
             contains("2.0 % of the 51 TFLOP/s") && contains("has no step to judge"));
}

TEST_CASE("claims on two rungs compare those two", "[gemm]") {
  const auto two_outputs = "row_major/12_two_outputs",
             double_buffered = "row_major/08_double_buffered",
             registers = "row_major/14_registers_buffered", warp_tile = "row_major/11_warp_tile";
  check_verdicts("G1", {{confirmed, {entry(shared_memory, 6e12), entry(two_outputs, 6.3e12)}},
                        {refuted, {entry(shared_memory, 6e12), entry(two_outputs, 9e12)}},
                        {not_measured, {entry(shared_memory, 6e12)}}});
  // A figure that another run may turn round is not faster.
  check_verdicts("G3", {{confirmed, {entry(tile_2d, 30e12), entry(double_buffered, 33e12)}},
                        {refuted, {entry(tile_2d, 30e12), entry(double_buffered, 30.1e12)}}});
  check_verdicts("G2", {{confirmed, {entry(registers, 47e12), entry(warp_tile, 50e12)}},
                        {refuted, {entry(registers, 30e12), entry(warp_tile, 50e12)}}});
}

TEST_CASE("claims on one thing compare a lesson with one that goes on from it", "[gemm]") {
  const Entry shared = entry("column_major/02_shared_memory", 18e12);
  const auto staged = [](double throughput) {
    return entry("column_major/08_staged_registers", throughput);
  };
  check_verdicts("GC8", {{confirmed, {shared, staged(18.2e12)}},
                         {confirmed, {shared, staged(17.8e12)}},
                         {refuted, {shared, staged(17e12)}},
                         {refuted, {shared, staged(19e12)}},
                         {not_measured, {shared}}});
  struct Row {
    const char *id, *rung, *other, *role;
  };
  for (const Row& row :
       {Row{"GC9", "column_major/06_tile_128", "column_major/09_tile_8x8", "global_store_sectors"},
        {"GC13", "column_major/03_tile_2x2", "column_major/10_vector_store",
         "stall_mio_throttle"}}) {
    const auto of = [&](double throughput, double of_other) {
      return std::vector{counted(row.rung, 41e12, {{row.role, 2097152}}),
                         counted(row.other, throughput, {{row.role, of_other}})};
    };
    check_verdicts(row.id, {{confirmed, of(38e12, 4194304)},
                            {refuted, of(40.9e12, 4194304)},  // no faster
                            {refuted, of(38e12, 2097152)},    // for another reason
                            // Without counters nobody knows why.
                            {not_measured, {entry(row.rung, 41e12), entry(row.other, 38e12)}}});
  }
}

TEST_CASE("what is claimed of traffic is decided by the counters", "[gemm]") {
  // Every counted rung must agree.
  Entry right = counted(tile_2d, 30e12, {{"global_load_sectors", 1001}}),
        wrong = counted(shared_memory, 6e12, {{"global_load_sectors", 1200}});
  right.extras["tile_read_sectors"] = wrong.extras["tile_read_sectors"] = 1000;
  check_verdicts(
      "GT1",
      {{confirmed, {right}}, {refuted, {right, wrong}}, {not_measured, {entry(tile_2d, 30e12)}}});
  // No rung asks for more than both operands anew for each multiplication.
  const auto moving = [](const char* name, double requests, double read_bytes = 210e6) {
    return counted(name, 1e12,
                   {{"global_load_requests", requests},
                    {"dram_read_bytes", read_bytes},
                    {"dram_write_bytes", 67e6}});
  };
  constexpr double twice_for_each = 4294967296;  // 2 * 4096³ / 32
  check_verdicts("GT2", {{confirmed, {moving(naive, twice_for_each), moving(tile_2d, 4e6)}},
                         {refuted, {moving(naive, 2 * twice_for_each)}},
                         {refuted, {moving(naive, twice_for_each, 67e6)}},  // not all was read
                         {not_measured, {moving(tile_2d, twice_for_each)}},
                         {not_measured, {entry(naive, 1e12)}}});
  // What lessons read is held against the library's own traffic; a negative figure is not counted.
  const auto with = [&](double bytes, double wavefronts) {
    Entry library = entry("cuBLAS", 51e12, ladder_size, "fp32", "claim");
    if (bytes >= 0) planted::add_counter(library, "dram_read_bytes", bytes);
    if (wavefronts >= 0) planted::add_counter(library, "shared_load_wavefronts", wavefronts);
    return std::vector{counted("column_major/01_naive", 3e12,
                               {{"dram_read_bytes", 2000}, {"shared_load_wavefronts", 2000}}),
                       counted("column_major/04_tile_64", 9e12,
                               {{"dram_read_bytes", 150}, {"shared_load_wavefronts", 150}}),
                       library};
  };
  check_verdicts("GC10", {{not_measured, {with(0, 0).front()}},
                          {not_measured, with(-1, -1)},
                          {not_measured, with(100, -1)},
                          {confirmed, with(100, 100)},
                          {conditional, with(100, 50)},  // of device memory alone
                          {conditional, with(50, 100)},
                          {refuted, with(50, 50)},
                          {not_measured, with(0, 100)}});
  check_verdicts("GC12", {{confirmed, with(100, 100)}, {refuted, with(50, 50)}});
  // It is no rung of the ladder, and not the fastest.
  CHECK_THAT(gemm::conclude(with(100, 100)).answer, !contains("cuBLAS"));
  const auto stalled = [](const char* rung, double stalls) {
    return counted(rung, 1e12,
                   {{"stall_lg_throttle", stalls / 2}, {"stall_mio_throttle", stalls / 2}});
  };
  const auto first = "column_major/01_naive", second = "column_major/02_shared_memory";
  check_verdicts("GC11", {{confirmed, {stalled(first, 9), stalled(second, 8)}},
                          {refuted, {stalled(first, 8), stalled(second, 9)}},
                          {not_measured, {stalled(first, 9)}}});
}

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

TEST_CASE("wmma is held against the library of fp16 and the peak that the GPU's maker publishes",
          "[gemm]") {
  const auto half = [](const char* rung, double throughput) {
    return entry(rung, throughput, ladder_size, "fp16");
  };
  const Entry wmma = half("01_wmma_global", 40e12);
  Entry top = half("13_all_layouts", 700e12);
  top.opponents = {opponent("cuBLAS", 750e12, 700.0 / 750)};
  check_verdicts("G5", {{confirmed, {wmma, top}},
                        {refuted, {half("01_wmma_global", 400e12), top}},
                        {not_measured, {wmma}},
                        // fp32's library is no opponent of fp16.
                        {not_measured, {wmma, contender(56e12)}}});
  const auto claimed = [](double throughput, double peak) {
    Entry e = entry("02_wmma_shared", throughput, 8192, "fp16", "claim");
    if (peak > 0) e.extras["published_peak_FLOP_per_s"] = peak;
    return e;
  };
  const Entry mma = half("04_multistage", 390e12);
  check_verdicts("G6", {{confirmed, {claimed(385e12, 386e12), mma}},
                        {conditional, {claimed(385e12, 989.5e12), mma}},
                        {refuted, {claimed(330e12, 989.5e12), mma}},
                        {not_measured, {claimed(385e12, 0), mma}},
                        {not_measured, {claimed(385e12, 386e12)}},
                        // The ladder's own sizes and scalars are no answer.
                        {not_measured, {half("02_wmma_shared", 165.1e12)}}});
}

TEST_CASE("doubles in 16 x 16 tiles do not conflict if no counter says so", "[gemm]") {
  const auto tiles = [](const std::vector<std::pair<const char*, double>>& counters) {
    return std::vector{counted("01_shared_memory", 3e12, counters, "fp64")};
  };
  const auto wavefronts = "shared_load_wavefronts", loads = "shared_load_conflicts",
             stores = "shared_store_conflicts", stored = "shared_store_wavefronts";
  // A thousandth of loads is no layout's, nor is a tenth of stores.
  check_verdicts(
      "S7", {{confirmed, tiles({{wavefronts, 1000}, {loads, 1}, {stored, 1000}, {stores, 40}})},
             {refuted, tiles({{wavefronts, 1000}, {loads, 3}, {stored, 1000}, {stores, 0}})},
             {refuted, tiles({{wavefronts, 1000}, {loads, 0}, {stored, 1000}, {stores, 300}})},
             {not_measured, tiles({{wavefronts, 1000}, {loads, 0}})},
             {not_measured, tiles({{wavefronts, 1000}, {stored, 1000}, {stores, 0}})},
             {not_measured, {}},
             // No wavefront at all: nothing was counted.
             {not_measured, tiles({{wavefronts, 0}, {loads, 0}, {stored, 0}, {stores, 0}})}});
  check_verdicts("G4", {{not_measured, {}}, {confirmed, tiles({})}});
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
  const auto jump = [](double before, double after) {
    return std::vector{around_tiles(3072, 3, before), around_tiles(3088, 4, after),
                       around_tiles(3200, 4, after)};
  };
  // The cycles grow as whole waves do, and the time falls, since the clock was lower before.
  const std::vector slow{around_tiles(3072, 3, 3e6, "tile", 1.2e9),
                         around_tiles(3088, 4, 4e6, "tile", 1.8e9)};
  REQUIRE(slow[1].real_time_s < slow[0].real_time_s);
  auto without_clock = slow;
  without_clock[0].timing.sm_clock_hz.reset();
  without_clock[0].telemetry.sm_clock_hz.median = 1.2e9;  // NVML's lags behind and is none
  check_verdicts("T2",
                 {{confirmed, jump(3e6, 4e6)},
                  {confirmed, jump(3e6, 3.6e6)},
                  {refuted, jump(3e6, 3.05e6)},
                  {confirmed, slow},
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
