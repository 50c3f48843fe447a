// The warp-specialised fp32 kernel: tiles at the edges, k in shares of every length, and in rings
// that wrap.

#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

/// A product of these sizes that the tile takes, the operands lying in the first such way from
/// number `first` on; with lines on 16 bytes if it must be.
Problem product_for(const fp32::WarpSpecialisedChoice& tile, int m, int n, int k, int first,
                    double beta) {
  for (const bool aligned : {false, true}) {
    for (int i = 0; i < 4; ++i) {
      const auto transpose = [&](int bit) {
        return ((first + i) >> bit & 1) != 0 ? Transpose::yes : Transpose::no;
      };
      Problem problem = make_problem(Class::fp32, m, n, k, transpose(0), transpose(1), 2, beta);
      if (aligned) {
        for (std::int64_t* ld : {&problem.lda, &problem.ldb}) *ld = (*ld + 3) / 4 * 4;
      }
      if (tile.takes(problem)) return problem;
    }
  }
  FAIL("no way for operands to lie that the tile takes");
  return {};
}

}  // namespace

TEST_CASE("fp32 tiles of the warp-specialised kernel are right in shares and whole",
          "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  if (bench.facts.major != 9) SKIP("the kernel is for sm_90a");
  // The ring holds 128 of k. Blocks: fewer than tiles, as many as several share one, more than
  // stages. Where every access is instrumented, the least that has each of the first two.
  const bool few = test::under_sanitizer();
  const std::vector<int> depths = few ? std::vector{33, 168} : std::vector{1, 33, 420};
  const std::vector<int> grids = few ? std::vector{1, 3} : std::vector{1, 3, 7, 30};
  for (const fp32::WarpSpecialisedChoice& tile :
       {fp32::tma_producer_128x256(), fp32::transposing_producer_a(),
        fp32::transposing_producer_b(), fp32::transposing_producer_both()}) {
    for (const int k : depths) {
      for (const int beyond : {0, 1}) {
        for (const int blocks : grids) {
          // Every way to lie for each length of a share, not all with all.
          const int way = (k + blocks) % 2 + 2 * ((k + blocks / 2 + beyond) % 2);
          // The tile along C's rows or along its columns.
          const bool along_rows = blocks % 2 == 0;
          const Problem problem =
              product_for(tile, (along_rows ? 256 : 128) + beyond,
                          (along_rows ? 128 : 256) + beyond, k, way, beyond == 0 ? 0 : -1);
          CAPTURE(blocks);
          const RungPlan plan = tile.plan(problem, blocks);
          const Workspace sums =
              bench.workspace(std::max<std::size_t>(plan.workspace_bytes, 16), blocks);
          bench.check_product(problem, sums, 2, plan.launch);
        }
      }
    }
  }
}
