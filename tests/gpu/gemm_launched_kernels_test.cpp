// That the resources which are told of a rung are those of the kernel that its launch runs.

#include "gemm/bench/cases.h"
#include "gemm/bench/launched_kernels.h"
#include "gemm/bench/shapes.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

constexpr int h200_sms = 132;

/// The kernels that the rung's launch of the product has; nothing of it runs, so that the matrices
/// may as well be one.
std::vector<LaunchedKernel> kernels_of(test::RungBench& bench, const Rung& rung, const Problem& p) {
  const Buffer any = bench.context.buffers().output("any matrix", std::size_t{256} << 20);
  const RungPlan plan = rung.plan(p, h200_sms);
  const Workspace workspace = bench.workspace(plan.workspace_bytes, h200_sms);
  const auto launch = [&] {
    plan.launch({p, any.data, any.data, any.data}, workspace, bench.stream.get());
  };
  // A kernel's first launch may load its module, which a capture else forbids.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  FATHOM_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  Launched launched = launched_kernels(launch, bench.stream.get());
  FATHOM_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  CHECK(launched.unknown.empty());
  return std::move(launched.kernels);
}

}  // namespace

TEST_CASE("the kernel that a plan tells is the one that its launch multiplies with",
          "[gpu][gemm]") {
  test::RungBench bench;
  for (const Rung& rung : all_rungs()) {
    if (!bench.runs(rung)) continue;
    std::vector<Problem> problems{ladder_problem(rung, ladder_size)};
    for (const auto& [m, n, k] : {Shape{4096, 4096, 4096},
                                  {3088, 4096, 4096},
                                  {4096, 3088, 4096},
                                  {1024, 1024, 1024},
                                  {256, 256, 256},
                                  {100, 8192, 8192},
                                  {8192, 128, 8192},
                                  {16, 8192, 8192},
                                  {4095, 4095, 4095},
                                  {67, 61, 97},
                                  {1, 1, 1}})
      std::ranges::move(test::layouts(rung.of, m, n, k), std::back_inserter(problems));
    int told = 0;
    for (const Problem& p : problems) {
      CAPTURE(rung.id(), p.describe());
      const std::vector<LaunchedKernel> kernels = kernels_of(bench, rung, p);
      const LaunchedKernel* kernel = product_kernel(kernels);
      REQUIRE(kernel != nullptr);
      const RungPlan plan = rung.plan(p, h200_sms);
      const RungKernel& expected = plan.kernel;
      if (expected.function == nullptr || !(plan.own_path || rung.contender)) continue;
      const char* name = nullptr;
      FATHOM_CUDA(cudaFuncGetName(&name, expected.function));
      CHECK(kernel_template(kernel->name) == kernel_template(name));
      CHECK(kernel->threads == expected.threads);
      CHECK(kernel->dynamic_shared_bytes == expected.dynamic_shared_bytes);
      if (++told > 1) continue;
      // At the ladder's size it is the very kernel, and the driver's handle and the runtime's mean
      // the same one.
      CHECK(kernel->name == name);
      cudaFuncAttributes attributes{};
      FATHOM_CUDA(cudaFuncGetAttributes(&attributes, expected.function));
      int blocks = 0;
      FATHOM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, expected.function, expected.threads, expected.dynamic_shared_bytes));
      CHECK(kernel->registers == attributes.numRegs);
      CHECK(kernel->shared_bytes ==
            static_cast<int>(attributes.sharedSizeBytes) + expected.dynamic_shared_bytes);
      CHECK(kernel->blocks_per_sm == blocks);
      CHECK(blocks > 0);
    }
    CAPTURE(rung.id());
    CHECK(told >= (rung.contender ? 9 : 1));
    CHECK(kernels_of(bench, rung, make_problem(rung.of, 0, 64, 64)).empty());
  }
}
