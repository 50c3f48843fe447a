// The rungs of the types that wgmma multiplies, where they are most likely to be wrong: edges of
// their tiles, of the ring and of TMA's boxes, all transpositions, columns that start
// on no 16 bytes.

#include "gemm/best/plan.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;
using test::both, test::layouts, test::more_than, test::Task;

namespace {

/// A tile is 128 x 256 or 128 x 128 in row-major terms, that is 256 x 128 of BLAS's m x n; 64 of k
/// are a stage.
constexpr Shape shapes[] = {{1, 1, 1},      {0, 5, 7},      {5, 0, 7},       {5, 7, 0},
                            {8, 8, 8},      {16, 136, 72},  {67, 61, 97},    {256, 128, 64},
                            {257, 129, 65}, {264, 136, 72}, {520, 264, 328}, {1, 300, 40},
                            {300, 1, 1000}, {128, 520, 520}};

/// With gaps between the columns: on 16 bytes, then for C alone on none, then for none.
std::vector<Problem> with_gaps(Problem scaled) {
  std::vector<Problem> all;
  scaled.lda += (8 - scaled.lda % 8) % 8 + 8;
  scaled.ldb += (8 - scaled.ldb % 8) % 8 + 16;
  scaled.ldc += (8 - scaled.ldc % 8) % 8 + 24;
  all.push_back(scaled);
  scaled.ldc += 1;
  scaled.beta = 0;
  all.push_back(scaled);
  scaled.lda += 3;
  scaled.ldb += 5;
  all.push_back(scaled);
  scaled.alpha = 0;
  scaled.beta = 1;
  all.push_back(scaled);
  return all;
}

std::vector<Task> all_tasks(Class of) {
  std::vector<Task> tasks;
  for (const Shape& s : shapes) {
    for (const Problem& p : layouts(of, s.m, s.n, s.k)) tasks.push_back({p});
    const Problem scaled = make_problem(of, s.m, s.n, s.k, Transpose::no, Transpose::yes, 2, -3);
    tasks.push_back({scaled});
    for (const Problem& p : with_gaps(scaled)) tasks.push_back({p});
  }
  return tasks;
}

/// Where every access is instrumented: each kernel once past its tile's edges, with more stages
/// than its ring has; a product whose operands are copied and whose C starts anywhere; and none.
std::vector<Task> few_tasks(Class of) {
  std::vector<Task> tasks{{make_problem(of, 5, 7, 0)}};
  for (const Problem& p : layouts(of, 272, 144, more_than(4, of))) tasks.push_back({p, true});
  Problem odd =
      make_problem(of, 257, 129, more_than(4, of) + 1, Transpose::no, Transpose::yes, 2, -3);
  odd.ldc += 3;
  tasks.push_back({odd});
  // Two blocks share the k of a narrow tile, each with a ring of up to eight stages.
  for (const std::int64_t m : {16, 48, 112}) {
    for (const Problem& p : layouts(of, m, 144, more_than(2 * 8 + 1, of)))
      tasks.push_back({p, true, true});
  }
  tasks.push_back(
      {make_problem(of, 144, 16, more_than(2 * 8 + 1, of), Transpose::yes), true, true});
  return tasks;
}

void check_class(Class of) {
  test::RungBench bench;
  const bool few = test::under_sanitizer();
  auto rungs = rungs_of(of);
  // Those for every chip have less to do under the sanitizer in gemm_lessons_test.cpp.
  if (few) std::erase_if(rungs, [](const Rung* rung) { return !rung->exact_capability; });
  bench.check_all(rungs, few ? few_tasks(of) : all_tasks(of));
}

}  // namespace

TEST_CASE("every fp16 rung is right on every small product", "[gpu][gemm][half][sanitized]") {
  check_class(Class::fp16);
}

TEST_CASE("every bf16 rung is right on every small product", "[gpu][gemm][half][sanitized]") {
  check_class(Class::bf16);
}

TEST_CASE("every rung of fp32 by tf32 is right on every small product", "[gpu][gemm][half]") {
  check_class(Class::fp32_3xtf32);
}

TEST_CASE("every tf32 rung is right on every small product", "[gpu][gemm][half]") {
  check_class(Class::tf32);
}

TEST_CASE("every fp8 rung is right on every small product", "[gpu][gemm][half][sanitized]") {
  check_class(Class::fp8);
}

TEST_CASE("every int8 rung is right on every small product", "[gpu][gemm][half][sanitized]") {
  check_class(Class::int8);
}

// More tiles than large clusters run at once, so that the kernel for the SMs that they leave has
// some: with as little beside that as makes no skinny product. The rungs that have only one layout
// of their own transpose the others, and are launched with it here too, but under the sanitizer.
TEST_CASE("large clusters and the kernel beside them are right", "[gpu][gemm][half][sanitized]") {
  test::RungBench bench;
  const bool few = test::under_sanitizer();
  for (const Class of : {Class::fp16, Class::bf16, Class::fp8, Class::int8}) {
    std::vector<Task> tasks;
    for (const Problem& p : layouts(of, 144, 8720, few ? more_than(4, of) : 80))
      tasks.push_back({p, few});
    if (!few) tasks.push_back({make_problem(of, 8712, 136, 136)});
    tasks.push_back(
        {make_problem(of, 137, 8713, few ? 40 : 200, Transpose::no, Transpose::no, 2, -1), false,
         few});
    if (!few)
      tasks.push_back({make_problem(of, 136, 8712, 328, Transpose::yes, Transpose::no, -1, 2)});
    auto rungs = rungs_of(of);
    std::erase_if(rungs, [](const Rung* rung) {
      return !rung->contender && !rung->id().ends_with("15_deferred_stores");
    });
    bench.check_all(rungs, tasks);
  }
}

// Products that fill the GPU with no tile: the top rungs cut them as skinny ones are, in several
// tiles each way.
TEST_CASE("small tiles whose k two blocks share are right next to each other",
          "[gpu][gemm][half][sanitized]") {
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

// Large enough that every block of a persistent kernel has several tiles, and the ring many rounds.
TEST_CASE("tensor-core rungs are right over several tiles a block", "[gpu][gemm][half]") {
  test::RungBench bench;
  for (const Class of :
       {Class::fp16, Class::bf16, Class::tf32, Class::fp32_3xtf32, Class::fp8, Class::int8}) {
    for (const Rung* rung : rungs_of(of)) {
      if (!bench.runs(*rung)) continue;
      const auto check = [&](std::int64_t m, std::int64_t n, std::int64_t k, auto... more) {
        bench.check(*rung, make_problem(of, m, n, k, more...));
      };
      for (const Transpose a : both) {
        for (const Transpose b : both) check(4096, 4096, 512, a, b);
      }
      check(4095, 4095, 1023, Transpose::no, Transpose::no, 1, 2);
      check(3000, 5000, 712, Transpose::no, Transpose::no, -1, 2);
      for (const std::int64_t narrow : {16, 40, 128}) {
        check(narrow, 8192, 8192);
        check(8192, narrow, 8192);
        check(narrow, 8191, 4097, Transpose::yes, Transpose::yes, 2, 1);
      }
    }
  }
}

// The bound of a promoted rung alone cannot tell its sums from fast ones: C's own rounding is most
// of the error, and the bound four times what is expected of the sums. An H200 had 0.00166 with
// sums that are promoted and 0.00263 with fast ones at k = 8192, at m = 128 as at 8192, a ratio of
// 0.63; where two blocks share k, each has fast sums of half of it and the ratio is 0.78.
TEST_CASE("promoted sums of fp8 keep what fast ones drop", "[gpu][gemm][half]") {
  test::RungBench bench;
  const Rung &promoted = *find_rung("fp8/01_promoted"),
             &fast = *find_rung("fp8/02_fast_accumulation");
  if (!bench.runs(promoted)) SKIP("Its rungs are Hopper's.");
  // The fast rung shares k of neither: halves of a skinny tile, and the large clusters.
  for (const Shape& s : {Shape{128, 256, 8192}, {144, 8720, 8192}}) {
    const Problem p = make_problem(Class::fp8, s.m, s.n, s.k, Transpose::yes);
    CAPTURE(p.describe());
    const double kept = bench.check(promoted, p).relative_frobenius;
    CHECK(kept < 0.75 * bench.check(fast, p).relative_frobenius);
  }
  const Rung &lesson = *find_rung("fp8/along_k/02_promoted"),
             &fast_lesson = *find_rung("fp8/along_k/01_fast_sums");
  const Problem p = make_problem(Class::fp8, 256, 512, 8192, Transpose::yes);
  REQUIRE((lesson.takes_own_path(p) && fast_lesson.takes_own_path(p)));
  const double kept = bench.check(lesson, p).relative_frobenius;
  CHECK(kept < 0.75 * bench.check(fast_lesson, p).relative_frobenius);
}
