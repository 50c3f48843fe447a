// The rungs of tf32 and of fp32 by three products of it: every tile, at edges, with and without the
// kernel for the SMs that large clusters leave.

#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;
using test::both, test::layouts, test::more_than, test::Task;

TEST_CASE("fp32 by tf32 is right with the tiles for any number of SMs",
          "[gpu][gemm][half][tf32][sanitized]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("fp32-3xtf32/02_planned_tiles");
  if (!bench.runs(rung)) SKIP("wgmma needs sm_90a");
  struct Plan {
    int sms;
    std::int64_t k;
  };
  // As few and as short as make it take each of its five tiles, in the order of split_tiles.
  for (const Plan plan : {Plan{1, 200}, {4, 520}, {4, 2048}, {8, 520}, {132, 800}}) {
    for (const Transpose a : both)
      bench.check(rung, make_problem(Class::fp32_3xtf32, 256, 128, plan.k, a), plan.sms);
  }
}

namespace {

/// Each kernel once, at edges, with more stages than its ring has; under the sanitizer where
/// operands need not be copied first.
void check_at_edges(Class of) {
  // Two blocks share the k of narrow tiles, the last is for the ring of 12 stages.
  const Shape edges[] = {{140, 144, more_than(6, of)},
                         {12, 140, more_than(17, of)},
                         {48, 140, more_than(17, of)},
                         {100, 140, more_than(13, of)},
                         {140, 4, more_than(25, of)}};
  std::vector<Task> tasks{{make_problem(of, 141, 137, 33, Transpose::no, Transpose::yes, -1, 1)},
                          {make_problem(of, 5, 7, 0)}};
  for (const Shape& s : edges) {
    for (Problem p : layouts(of, s.m, s.n, s.k)) {
      if (p.transb == Transpose::no) {
        p.alpha = 2;
        p.beta = 1;
      }
      tasks.push_back({p, test::under_sanitizer()});
    }
  }
  test::RungBench().check_all(rungs_of(of), tasks);
}

}  // namespace

TEST_CASE("each kernel of tf32 is right", "[gpu][gemm][half][tf32][sanitized]") {
  check_at_edges(Class::tf32);
}

TEST_CASE("each kernel of fp32 by tf32 is right", "[gpu][gemm][half][tf32][sanitized]") {
  check_at_edges(Class::fp32_3xtf32);
}

// In whole lines, few columns stream: in one pass, and in three.
TEST_CASE("products of tf32 with few columns are right", "[gpu][gemm][half][tf32][sanitized]") {
  for (const Class of : {Class::tf32, Class::fp32_3xtf32}) {
    std::vector<Task> tasks;
    for (const Shape& s : {Shape{16, 140, 32 * 17}, Shape{12, 40, 32 * 257}}) {
      for (const Problem& p : layouts(of, s.m, s.n, s.k)) tasks.push_back({p, true, true});
    }
    test::RungBench().check_all(rungs_of(of), tasks);
  }
}

// More entries than clusters of eight fit on the GPU: what is left of it is used too.
TEST_CASE("a product of many clusters is right", "[gpu][gemm][half][tf32][sanitized]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("tf32/03_large_clusters");
  if (!bench.runs(rung)) SKIP("wgmma needs sm_90a");
  bench.check(rung, make_problem(Class::tf32, 2560, 3072, 8));
}
