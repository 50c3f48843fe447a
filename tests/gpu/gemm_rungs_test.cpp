// Every rung of every ladder where it is most likely to be wrong: edges of tiles, of rings and of
// TMA's boxes, odd, prime, tiny, skinny and empty products, gaps between columns, columns on 16
// bytes and on none, transposes, alpha and beta. tests/host runs the lessons without tensor cores
// on the CPU too.

#include <catch2/catch_template_test_macros.hpp>

#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "gemm/best/plan.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;
using test::both, test::layouts, test::Task;

namespace {

constexpr Transpose no = Transpose::no, yes = Transpose::yes;

/// Elements of a line of 128 bytes, which are a stage of most rings.
std::int64_t line_of(Class of) { return 128 / element_bytes(traits(of).input); }

/// k with a part of a stage, more than so many stages; on 16 bytes.
std::int64_t more_than(int stages, Class of) { return line_of(of) * stages + line_of(of) / 4; }

/// As the lessons take A: those for wgmma along k, but of 16 bits.
Transpose own_layout(Class of) {
  return of == Class::tf32 || of == Class::fp8 || of == Class::int8 ? yes : no;
}

Problem with_gaps(Problem p, std::int64_t a, std::int64_t b, std::int64_t c) {
  p.lda += a, p.ldb += b, p.ldc += c;
  return p;
}

/// Nothing, tiny, few columns, whole tiles, and each tile at least once just past its edge.
constexpr Shape shapes[] = {
    {0, 5, 7},       {5, 0, 7},       {5, 7, 0},       {1, 1, 1},      {2, 3, 5},
    {8, 8, 8},       {31, 33, 17},    {67, 61, 97},    {1, 300, 640},  {300, 1, 1000},
    {300, 1, 647},   {16, 128, 16},   {17, 129, 31},   {16, 140, 132}, {16, 531, 272},
    {70, 12, 4112},  {64, 64, 64},    {128, 128, 8},   {768, 256, 64}, {512, 256, 256},
    {256, 512, 576}, {129, 127, 33},  {257, 129, 65},  {129, 257, 65}, {260, 132, 36},
    {264, 136, 72},  {520, 264, 328}, {128, 520, 520}, {150, 300, 329}};

void add_small_products(std::vector<Task>& tasks, Class of) {
  for (const Shape& s : shapes) {
    for (const Problem& plain : layouts(of, s.m, s.n, s.k)) {
      tasks.push_back({plain});
      Problem scaled = with_gaps(plain, 3, 5, 7);
      scaled.alpha = 2, scaled.beta = -3;
      tasks.push_back({scaled});
    }
    // Columns on 16 bytes but for C's, then all.
    Problem scaled = make_problem(of, s.m, s.n, s.k, own_layout(of), no, 2, -3);
    for (std::int64_t* ld : {&scaled.lda, &scaled.ldb, &scaled.ldc}) *ld = (*ld + 31) / 16 * 16;
    tasks.push_back({with_gaps(scaled, 0, 0, 1)});
    tasks.push_back({scaled});
    scaled.alpha = 0, scaled.beta = 1;
    tasks.push_back({scaled});
  }
}

/// Past the edges of each kernel's tile, and with more stages than its ring has: of narrow tiles,
/// of which two blocks share k, with a ring of up to 12 each; and, in whole lines, of those whose
/// large operand streams by, in one pass and in three.
std::vector<Shape> edges(Class of) {
  const std::int64_t line = line_of(of);
  switch (of) {
    case Class::fp32:
      return {{260, 132, 36}, {16, 140, 132}};
    case Class::fp64:
      return {{129, 257, 289}, {16, 129, 193}, {129, 15, 193},  {40, 129, 193},
              {16, 67, 208},   {33, 12, 4112}, {33, 11, 4112}, {1, 40, 208}};
    case Class::tf32:
    case Class::fp32_3xtf32:
      return {{140, 144, more_than(6, of)}, {12, 140, more_than(17, of)},
              {48, 140, more_than(17, of)}, {100, 140, more_than(13, of)},
              {140, 4, more_than(25, of)},  {16, 140, line * 17},
              {12, 40, line * 257},         {11, 40, line * 17}};
    default:
      return {{272, 144, more_than(4, of)},
              {16, 144, more_than(17, of)},
              {48, 144, more_than(17, of)},
              {112, 144, more_than(17, of)},
              {144, 16, more_than(17, of)}};
  }
}

/// Each kernel once, which is all where every access is instrumented: at those edges, where rungs
/// for sm_90a take operands as they are; whole tiles, since lessons take nothing else; products
/// whose operands are copied and whose C starts anywhere; and none.
void add_every_kernel(std::vector<Task>& tasks, Class of) {
  const std::int64_t line = line_of(of);
  const Transpose own = own_layout(of);
  tasks.push_back({make_problem(of, 5, 7, 0, no, no, 1, 2)});
  tasks.push_back({make_problem(of, 512, 256, std::max<std::int64_t>(line, 64), own)});
  tasks.push_back(
      {make_problem(of, 256, 512, std::max<std::int64_t>(9 * line, 576), own, no, 3, -2)});
  tasks.push_back({with_gaps(make_problem(of, 129, 127, 33, no, no, 2, -3), 3, 5, 7)});
  tasks.push_back({make_problem(of, 141, 137, 33, no, yes, -1, 1)});
  tasks.push_back(
      {with_gaps(make_problem(of, 257, 129, more_than(4, of) + 1, no, yes, 2, -3), 0, 0, 3)});
  const bool as_they_are = test::under_sanitizer() && of != Class::fp32 && of != Class::fp64;
  for (const Shape& s : edges(of)) {
    for (Problem p : layouts(of, s.m, s.n, s.k)) {
      tasks.push_back({p, as_they_are, is_skinny(p)});
      p.alpha = 2, p.beta = 1;
      // Columns on 16 bytes that were not, and the other way round, B's in half of the layouts.
      if (of == Class::fp64) p = with_gaps(p, 1, p.transb == yes ? 1 : 0, 3);
      if (p.transa == yes) tasks.push_back({p, as_they_are, is_skinny(p)});
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("every rung is right on every small product",
                       "[gpu][gemm][rungs][sanitized]", ((Class of), of), Class::fp32,
                       Class::fp32_3xtf32, Class::fp64, Class::fp16, Class::bf16, Class::tf32,
                       Class::fp8, Class::int8) {
  std::vector<Task> tasks;
  add_every_kernel(tasks, of);
  if (!test::under_sanitizer()) add_small_products(tasks, of);
  test::RungBench().check_all(rungs_of(of), tasks);
}

// More tiles than large clusters run at once, so that the kernel for the SMs that they leave has
// some: with as little beside that as makes no skinny product. The rungs that have only one layout
// of their own transpose the others, and are launched with it here too, but under the sanitizer.
TEST_CASE("large clusters and the kernel beside them are right", "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  const bool few = test::under_sanitizer();
  for (const Class of : {Class::fp16, Class::bf16, Class::fp8, Class::int8}) {
    std::vector<Task> tasks;
    for (const Problem& p : layouts(of, 144, 8720, few ? more_than(4, of) : 80))
      tasks.push_back({p, few, true});
    tasks.push_back({make_problem(of, 137, 8713, few ? 40 : 200, no, no, 2, -1), false, true});
    if (!few) {
      tasks.push_back({make_problem(of, 8712, 136, 136), false, true});
      tasks.push_back({make_problem(of, 136, 8712, 328, yes, no, -1, 2), false, true});
    }
    bench.check_all(rungs_of(of), tasks);
  }
  bench.check_all({find_rung("tf32/03_large_clusters")},
                  {{make_problem(Class::tf32, 2560, 3072, 8)}});
}

// Products that fill the GPU with no tile: the top rungs cut them as skinny ones are, in several
// tiles each way.
TEST_CASE("small tiles whose k two blocks share are right next to each other",
          "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  for (const char* id : {"fp16/15_deferred_stores", "bf16/15_deferred_stores", "fp8/01_promoted",
                         "fp8/02_fast_accumulation", "int8/01_wgmma"}) {
    const Rung& rung = *find_rung(id);
    if (!bench.runs(rung)) SKIP("wgmma needs sm_90a");
    const auto check = [&](const Problem& problem) {
      CAPTURE(problem.describe());
      // What the plan is asked on an H200, so that the test means the same everywhere.
      constexpr int sms = 132;
      REQUIRE(halves_of_small_tiles_are_sooner(problem, sms));
      bench.check(rung, problem, sms);
    };
    const bool few = test::under_sanitizer();
    for (const Transpose a : both) {
      for (const Transpose b : both) {
        if (!few) check(make_problem(rung.of, 1024, 1024, 1024, a, b));
        check(make_problem(rung.of, 520, 392, 1032, a, b, 2, -1));  // each layout is a kernel
      }
    }
    if (!few) check(make_problem(rung.of, 391, 519, 1031));
  }
}

TEST_CASE("fp32 by tf32 is right with the tiles for any number of SMs", "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("fp32-3xtf32/02_planned_tiles");
  if (!bench.runs(rung)) SKIP("wgmma needs sm_90a");
  // As few and as short as make it take each of its five tiles, in the order of split_tiles.
  for (const auto& [sms, k] : {std::pair{1, 200}, {4, 520}, {4, 2048}, {8, 520}, {132, 800}}) {
    for (const Transpose a : both)
      bench.check(rung, make_problem(Class::fp32_3xtf32, 256, 128, k, a), sms);
  }
}

// The warp-specialised fp32 kernel: tiles at the edges, k in shares of every length, and in rings
// that wrap.
TEST_CASE("fp32 tiles of the warp-specialised kernel are right in shares and whole",
          "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  if (bench.facts.major != 9) SKIP("the kernel is for sm_90a");
  // The ring holds 128 of k. Blocks: fewer than tiles, as many as several share one, more than
  // stages. Where every access is instrumented, the least that has each of the first two.
  const bool few = test::under_sanitizer();
  const std::vector<int> depths = few ? std::vector{33, 168} : std::vector{1, 33, 420};
  const std::vector<int> grids = few ? std::vector{1, 3} : std::vector{1, 3, 7, 30};
  // How the operands lie decides who fills the ring, of lines on 16 bytes; others are copied first.
  for (const auto& [transa, transb, gap] : {std::tuple{no, no, 0},
                                            {yes, yes, 0},
                                            {yes, no, 0},
                                            {no, yes, 0},
                                            {no, no, 1},
                                            {yes, yes, 1}}) {
    for (const int k : depths) {
      for (const int beyond : {0, 1}) {
        for (const int blocks : grids) {
          // The tile along C's rows or along its columns.
          const bool along_rows = blocks % 2 == 0;
          Problem problem = make_problem(Class::fp32, (along_rows ? 256 : 128) + beyond,
                                         (along_rows ? 128 : 256) + beyond, k, transa, transb, 2,
                                         beyond == 0 ? 0 : -1);
          for (std::int64_t* ld : {&problem.lda, &problem.ldb}) *ld = (*ld + 3) / 4 * 4 + gap;
          CAPTURE(blocks);
          const RungPlan plan = fp32::warp_specialised_plan(problem, blocks);
          const Workspace sums =
              bench.workspace(std::max<std::size_t>(plan.workspace_bytes, 16), blocks);
          bench.check_product(problem, sums, 2, plan.launch);
        }
      }
    }
  }
}

// Large enough that every block of a persistent kernel has several tiles, some cut along k, and the
// ring many rounds.
TEST_CASE("rungs are right over several tiles a block", "[gpu][gemm]") {
  for (const ClassTraits& type : all_classes()) {
    std::vector<Task> tasks;
    for (const Problem& p : layouts(type.of, 4096, 4096, 512)) tasks.push_back({p});
    tasks.push_back({make_problem(type.of, 4095, 4095, 1023, no, no, 1, 2)});
    tasks.push_back({make_problem(type.of, 3000, 5000, 712, no, no, -1, 2)});
    for (const std::int64_t narrow : {16, 40, 128}) {
      tasks.push_back({make_problem(type.of, narrow, 8192, 8192)});
      tasks.push_back({make_problem(type.of, 8192, narrow, 8192)});
      tasks.push_back({make_problem(type.of, narrow, 8191, 4097, yes, yes, 2, 1)});
    }
    test::RungBench().check_all(rungs_of(type.of), tasks);
  }
}

// The bound of a promoted rung alone cannot tell its sums from fast ones: C's own rounding is most
// of the error, and the bound four times what is expected of the sums. An H200 had 0.00166 with
// sums that are promoted and 0.00263 with fast ones at k = 8192, at m = 128 as at 8192, a ratio of
// 0.63; where two blocks share k, each has fast sums of half of it and the ratio is 0.78.
TEST_CASE("promoted sums of fp8 keep what fast ones drop", "[gpu][gemm]") {
  test::RungBench bench;
  struct Pair {
    const char *promoted, *fast;
    Shape shape;
  };
  // The fast rung shares k of neither: halves of a skinny tile, and the large clusters.
  for (const Pair& pair :
       {Pair{"fp8/01_promoted", "fp8/02_fast_accumulation", {128, 256, 8192}},
        {"fp8/01_promoted", "fp8/02_fast_accumulation", {144, 8720, 8192}},
        {"fp8/along_k/02_promoted", "fp8/along_k/01_fast_sums", {256, 512, 8192}}}) {
    const Rung &promoted = *find_rung(pair.promoted), &fast = *find_rung(pair.fast);
    if (!bench.runs(promoted)) SKIP("Its rungs are Hopper's.");
    const Problem p =
        make_problem(Class::fp8, pair.shape.m, pair.shape.n, pair.shape.k, Transpose::yes);
    CAPTURE(promoted.id(), p.describe());
    REQUIRE((promoted.takes_own_path(p) && fast.takes_own_path(p)));
    const double kept = bench.check(promoted, p).relative_frobenius;
    CHECK(kept < 0.75 * bench.check(fast, p).relative_frobenius);
  }
}

// The runtime copies no lines that are further apart than 2 GiB less a byte: what C was before is
// put there column by column.
TEST_CASE("a C whose columns lie 2 GiB apart is added to", "[gpu][gemm]") {
  test::RungBench bench;
  std::size_t free_bytes = 0, total_bytes = 0;
  FATHOM_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  if (free_bytes < std::size_t{12} << 30) SKIP("C and what it was before take 8 GiB.");
  Problem p = make_problem(Class::fp32, 3, 2, 4, Transpose::no, Transpose::no, 2, -3);
  p.ldc = std::int64_t{1} << 29;
  bench.check(*find_rung("fp32/row_major/01_naive"), p);
}
