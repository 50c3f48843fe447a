// The rungs of the types that wgmma multiplies, where they are most likely to be wrong: edges of
// their tiles, of the ring and of the copy engine's boxes, all transpositions, columns that start
// on no 16 bytes.

#include <catch2/catch_test_macros.hpp>

#include "gemm/rung.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

struct Shape {
  std::int64_t m, n, k;
};

/// A tile is 128 x 256 or 128 x 128 in row-major terms, that is 256 x 128 of BLAS's m x n; 64 of k
/// are a stage. Small, since every access is instrumented under the sanitizer.
constexpr Shape shapes[] = {{1, 1, 1},      {0, 5, 7},      {5, 0, 7},       {5, 7, 0},
                            {8, 8, 8},      {16, 136, 72},  {67, 61, 97},    {256, 128, 64},
                            {257, 129, 65}, {264, 136, 72}, {520, 264, 328}, {1, 300, 40},
                            {300, 1, 1000}, {128, 520, 520}};

constexpr Transpose both[] = {Transpose::no, Transpose::yes};

void check_class(Class of) {
  test::RungBench bench;
  for (const Rung* rung : rungs_of(of)) {
    if (!runs_on(*rung, bench.facts.major, bench.facts.minor)) continue;
    for (const Shape& s : shapes) {
      for (const Transpose a : both) {
        for (const Transpose b : both) bench.check(*rung, make_problem(of, s.m, s.n, s.k, a, b));
      }
      Problem scaled = make_problem(of, s.m, s.n, s.k, Transpose::no, Transpose::yes, 2, -3);
      bench.check(*rung, scaled);
      // On 16 bytes with gaps between the columns, then on none, then C alone.
      scaled.lda += (8 - scaled.lda % 8) % 8 + 8;
      scaled.ldb += (8 - scaled.ldb % 8) % 8 + 16;
      scaled.ldc += (8 - scaled.ldc % 8) % 8 + 24;
      bench.check(*rung, scaled);
      scaled.ldc += 1;
      scaled.beta = 0;
      bench.check(*rung, scaled);
      scaled.lda += 3;
      scaled.ldb += 5;
      bench.check(*rung, scaled);
      scaled.alpha = 0;
      scaled.beta = 1;
      bench.check(*rung, scaled);
    }
  }
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

TEST_CASE("fp32 by tf32 is right with the tiles for any number of SMs",
          "[gpu][gemm][half][tf32][sanitized]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("fp32-3xtf32/02_planned_tiles");
  if (!runs_on(rung, bench.facts.major, bench.facts.minor)) SKIP("wgmma needs sm_90a");
  for (const Transpose a : both) {
    for (const int sms : {1, 4, 132})
      bench.check(rung, make_problem(Class::fp32_3xtf32, 256, 128, 2048, a, Transpose::no), sms);
  }
}

// Few products, since every access is instrumented under the sanitizer: each kernel once, at edges.
TEST_CASE("each kernel of tf32 and of fp32 by tf32 is right", "[gpu][gemm][half][tf32][sanitized]") {
  test::RungBench bench;
  for (const Class of : {Class::tf32, Class::fp32_3xtf32}) {
    for (const Rung* rung : rungs_of(of)) {
      if (!runs_on(*rung, bench.facts.major, bench.facts.minor)) continue;
      for (const Transpose a : both) {
        for (const Shape& s : {Shape{140, 137, 72}, {12, 140, 40}, {40, 140, 40}, {100, 140, 40},
                               {140, 5, 1000}}) {
          bench.check(*rung, make_problem(of, s.m, s.n, s.k, a, Transpose::no, 2, 1));
          bench.check(*rung, make_problem(of, s.m, s.n, s.k, a, Transpose::yes));
        }
      }
    }
  }
}

// More entries than clusters of eight fit on the GPU: what is left of it is used too.
TEST_CASE("a product of many clusters is right", "[gpu][gemm][half][tf32][sanitized]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("tf32/03_large_clusters");
  if (!runs_on(rung, bench.facts.major, bench.facts.minor)) SKIP("wgmma needs sm_90a");
  bench.check(rung, make_problem(Class::tf32, 2560, 3072, 8));
}

// More tiles than large clusters run at once, so that the kernel for the SMs that they leave has
// some: with as little beside that as makes no skinny product. The rungs that have only one layout
// of their own transpose the others, and are launched with it here too.
TEST_CASE("large clusters and the kernel beside them are right", "[gpu][gemm][half][sanitized]") {
  test::RungBench bench;
  for (const Class of : {Class::fp16, Class::bf16, Class::fp8, Class::int8}) {
    for (const Rung* rung : rungs_of(of)) {
      const bool large = rung->contender || rung->id.ends_with("14_large_clusters");
      if (!large || !runs_on(*rung, bench.facts.major, bench.facts.minor)) continue;
      for (const Transpose a : both) {
        for (const Transpose b : both) bench.check(*rung, make_problem(of, 136, 8712, 72, a, b));
      }
      bench.check(*rung, make_problem(of, 8712, 136, 136));
      bench.check(*rung, make_problem(of, 137, 8713, 200, Transpose::no, Transpose::no, 2, -1));
      bench.check(*rung, make_problem(of, 136, 8712, 328, Transpose::yes, Transpose::no, -1, 2));
    }
  }
}

// Large enough that every block of a persistent kernel has several tiles, and the ring many rounds.
TEST_CASE("tensor-core rungs are right over several tiles a block", "[gpu][gemm][half]") {
  test::RungBench bench;
  for (const Class of : {Class::fp16, Class::bf16, Class::tf32, Class::fp32_3xtf32, Class::fp8,
                         Class::int8}) {
    for (const Rung* rung : rungs_of(of)) {
      if (!runs_on(*rung, bench.facts.major, bench.facts.minor)) continue;
      for (const Transpose a : both) {
        for (const Transpose b : both) {
          bench.check(*rung, make_problem(of, 4096, 4096, 512, a, b));
        }
      }
      bench.check(*rung, make_problem(of, 4095, 4095, 1023, Transpose::no, Transpose::no, 1, 2));
      bench.check(*rung, make_problem(of, 3000, 5000, 712, Transpose::no, Transpose::no, -1, 2));
      for (const std::int64_t narrow : {16, 40, 128}) {
        bench.check(*rung, make_problem(of, narrow, 8192, 8192));
        bench.check(*rung, make_problem(of, 8192, narrow, 8192));
        bench.check(*rung,
                    make_problem(of, narrow, 8191, 4097, Transpose::yes, Transpose::yes, 2, 1));
      }
    }
  }
}
