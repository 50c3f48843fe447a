// Every rung of every ladder where it is most likely to be wrong: odd, prime, tiny, skinny and
// empty products, gaps between columns, transposes, alpha and beta.

#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;
using test::layouts, test::Task;

namespace {

/// Each tile at least once just past its edge; the last for tiles as narrow as C, on 16 bytes.
constexpr Shape shapes[] = {{1, 1, 1},      {0, 5, 7},      {5, 0, 7},      {5, 7, 0},
                            {2, 3, 5},      {31, 33, 17},   {64, 64, 64},   {67, 61, 97},
                            {128, 128, 8},  {129, 127, 33}, {1, 300, 40},   {300, 1, 40},
                            {16, 257, 131}, {256, 256, 64}, {260, 132, 36}, {16, 140, 132}};

/// With gaps between the columns.
void add_odd(std::vector<Task>& tasks, Problem& problem) {
  problem.lda += 3;
  problem.ldb += 5;
  problem.ldc += 7;
  tasks.push_back({problem});
}

std::vector<Task> all_tasks(Class of) {
  std::vector<Task> all;
  for (const Shape& s : shapes) {
    for (const Problem& p : layouts(of, s.m, s.n, s.k)) all.push_back({p});
    Problem scaled = make_problem(of, s.m, s.n, s.k, Transpose::no, Transpose::no, 2, -3);
    all.push_back({scaled});
    add_odd(all, scaled);
    scaled.transb = Transpose::yes;
    scaled.ldb = s.n + 12;
    scaled.beta = 0;
    all.push_back({scaled});
    scaled.alpha = 0;
    scaled.beta = 1;
    all.push_back({scaled});
  }
  return all;
}

/// Where every access is instrumented: past the edges of every tile, once on 16 bytes and once not;
/// whole tiles, since some rungs take nothing else; few columns; and no product at all.
std::vector<Task> few_tasks(Class of) {
  std::vector<Task> few{{make_problem(of, 5, 7, 0)},
                        {make_problem(of, 256, 256, 32)},
                        {make_problem(of, 16, 140, 132)}};
  for (const Problem& p : layouts(of, 260, 132, 36)) few.push_back({p});
  Problem odd = make_problem(of, 129, 127, 33, Transpose::no, Transpose::no, 2, -3);
  add_odd(few, odd);
  return few;
}

}  // namespace

TEST_CASE("every fp32 rung is right on every small product", "[gpu][gemm][sanitized]") {
  test::RungBench().check_all(rungs_of(Class::fp32), test::under_sanitizer()
                                                         ? few_tasks(Class::fp32)
                                                         : all_tasks(Class::fp32));
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
