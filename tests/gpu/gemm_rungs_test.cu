// Every rung of every ladder where it is most likely to be wrong: odd, prime, tiny, skinny and empty
// products, gaps between columns, transposes, alpha and beta.

#include <catch2/catch_test_macros.hpp>

#include "gemm/rung.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

struct Shape {
  std::int64_t m, n, k;
};

/// Small, since every access is instrumented under the sanitizer; each at least once just past a tile.
constexpr Shape shapes[] = {{1, 1, 1},     {0, 5, 7},     {5, 0, 7},      {5, 7, 0},    {2, 3, 5},
                            {31, 33, 17},  {64, 64, 64},  {67, 61, 97},   {128, 128, 8}, {129, 127, 33},
                            {1, 300, 40},  {300, 1, 40},  {16, 257, 131}, {256, 256, 64}, {260, 132, 36}};

constexpr Transpose both[] = {Transpose::no, Transpose::yes};

void check_class(Class of) {
  test::RungBench bench;
  for (const Rung* rung : rungs_of(of)) {
    if (!runs_on(*rung, bench.facts.major, bench.facts.minor)) continue;
    for (const Shape& s : shapes) {
      for (const Transpose a : both) {
        for (const Transpose b : both) {
          bench.check(*rung, make_problem(of, s.m, s.n, s.k, a, b));
        }
      }
      Problem scaled = make_problem(of, s.m, s.n, s.k, Transpose::no, Transpose::no, 2, -3);
      bench.check(*rung, scaled);
      scaled.lda += 3;
      scaled.ldb += 5;
      scaled.ldc += 7;
      bench.check(*rung, scaled);
      scaled.transb = Transpose::yes;
      scaled.ldb = s.n + 12;
      scaled.beta = 0;
      bench.check(*rung, scaled);
      scaled.alpha = 0;
      scaled.beta = 1;
      bench.check(*rung, scaled);
    }
  }
}

}  // namespace

TEST_CASE("every fp32 rung is right on every small product", "[gpu][gemm][sanitized]") {
  check_class(Class::fp32);
}
