// Every rung of every ladder where it is most likely to be wrong: odd, prime, tiny, skinny and
// empty products, gaps between columns, transposes, alpha and beta.

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "gemm/bench/rung.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

struct Shape {
  std::int64_t m, n, k;
};

/// Each tile at least once just past its edge; the last for tiles as narrow as C, on 16 bytes.
constexpr Shape shapes[] = {{1, 1, 1},      {0, 5, 7},      {5, 0, 7},      {5, 7, 0},
                            {2, 3, 5},      {31, 33, 17},   {64, 64, 64},   {67, 61, 97},
                            {128, 128, 8},  {129, 127, 33}, {1, 300, 40},   {300, 1, 40},
                            {16, 257, 131}, {256, 256, 64}, {260, 132, 36}, {16, 140, 132}};

constexpr Transpose both[] = {Transpose::no, Transpose::yes};

void add_layouts(std::vector<Problem>& to, Class of, const Shape& s) {
  for (const Transpose a : both) {
    for (const Transpose b : both) to.push_back(make_problem(of, s.m, s.n, s.k, a, b));
  }
}

std::vector<Problem> all_problems(Class of) {
  std::vector<Problem> all;
  for (const Shape& s : shapes) {
    add_layouts(all, of, s);
    Problem scaled = make_problem(of, s.m, s.n, s.k, Transpose::no, Transpose::no, 2, -3);
    all.push_back(scaled);
    scaled.lda += 3;
    scaled.ldb += 5;
    scaled.ldc += 7;
    all.push_back(scaled);
    scaled.transb = Transpose::yes;
    scaled.ldb = s.n + 12;
    scaled.beta = 0;
    all.push_back(scaled);
    scaled.alpha = 0;
    scaled.beta = 1;
    all.push_back(scaled);
  }
  return all;
}

/// Where every access is instrumented: past the edges of every tile, once on 16 bytes and once not;
/// whole tiles, since some rungs take nothing else; few columns; and no product at all.
std::vector<Problem> few_problems(Class of) {
  std::vector<Problem> few{make_problem(of, 5, 7, 0), make_problem(of, 256, 256, 32),
                           make_problem(of, 16, 140, 132)};
  add_layouts(few, of, {260, 132, 36});
  Problem odd = make_problem(of, 129, 127, 33, Transpose::no, Transpose::no, 2, -3);
  odd.lda += 3;
  odd.ldb += 5;
  odd.ldc += 7;
  few.push_back(odd);
  return few;
}

}  // namespace

TEST_CASE("every fp32 rung is right on every small product", "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  // Problem by problem: its reference serves all rungs.
  for (const Problem& problem :
       test::under_sanitizer() ? few_problems(Class::fp32) : all_problems(Class::fp32)) {
    for (const Rung* rung : rungs_of(Class::fp32)) {
      if (runs_on(*rung, bench.facts.major, bench.facts.minor)) bench.check(*rung, problem);
    }
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
