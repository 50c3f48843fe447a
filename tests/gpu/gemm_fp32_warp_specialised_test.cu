// The warp-specialised fp32 kernel: tiles at the edges, k in shares of every length, and in rings
// that wrap.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "gemm/bench/verification.h"
#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "harness/probe.h"
#include "tests/gpu/gpu_fixture.h"

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
  test::Gpu gpu;
  if (gpu.facts.major != 9) SKIP("the kernel is for sm_90a");
  Context context(gpu.facts, gpu.stream.get(), 1);
  const auto references = std::make_shared<ReferenceStore>();
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
              product_for(tile, (along_rows ? tile.n : tile.m) + beyond,
                          (along_rows ? tile.m : tile.n) + beyond, k, way, beyond == 0 ? 0 : -1);
          CAPTURE(tile.m, tile.n, problem.describe(), blocks);
          const Operands operands(context, references, problem, "test");
          const RungPlan plan = tile.plan(problem, blocks);
          const std::size_t bytes = std::max<std::size_t>(plan.workspace_bytes, 16);
          const Buffer scratch = context.buffers().output("sums", bytes);
          context.buffers().poison(scratch);
          for (int launch = 0; launch < 2;
               ++launch) {  // the second finds a workspace that was used
            operands.reset_c();
            plan.launch(operands.arguments(), {scratch.data, bytes, blocks}, gpu.stream.get());
            FATHOM_CUDA(cudaStreamSynchronize(gpu.stream.get()));
            Accuracy accuracy;
            const auto wrong = operands.verify(accuracy);
            CAPTURE(wrong.value_or("right"));
            REQUIRE_FALSE(wrong.has_value());
          }
          const auto outside = context.buffers().guards_intact();
          CAPTURE(outside.value_or("intact"));
          REQUIRE_FALSE(outside.has_value());
        }
      }
    }
  }
}
