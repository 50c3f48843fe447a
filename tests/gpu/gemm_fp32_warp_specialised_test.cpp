// The warp-specialised fp32 kernel: tiles at the edges, k in shares of every length, and in rings
// that wrap.

#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

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
  constexpr Transpose no = Transpose::no, yes = Transpose::yes;
  for (const auto& [transa, transb, gap] :
       {std::tuple{no, no, 0}, {yes, yes, 0}, {yes, no, 0}, {no, yes, 0}, {no, no, 1}, {yes, yes, 1}}) {
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
