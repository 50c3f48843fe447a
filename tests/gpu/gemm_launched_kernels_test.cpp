// That the kernel which a rung's plan names is the one that its launch runs.

#include "gemm/bench/cases.h"
#include "gemm/bench/kernel_names.h"
#include "gemm/bench/shapes.h"
#include "tests/gpu/gemm_rung_bench.h"
#include "tests/gpu/launched_kernels.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

constexpr int h200_sms = 132;

/// The kernels of the rung's launch of the product; nothing of it runs, so that the matrices may as
/// well be one.
std::string kernels_of(test::RungBench& bench, const Rung& rung, const Problem& p) {
  const Buffer any = bench.buffers.output("any matrix", std::size_t{256} << 20);
  const RungPlan plan = rung.plan(p, h200_sms);
  const Workspace workspace = bench.workspace(plan.workspace_bytes, h200_sms);
  const auto launch = [&] {
    plan.launch({p, any.data, any.data, any.data}, workspace, bench.stream.get());
  };
  // A kernel's first launch may load its module, which a capture else forbids.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  FATHOM_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  std::string kernels = kernel_names(launch, bench.stream.get());
  FATHOM_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  return kernels;
}

}  // namespace

TEST_CASE("the kernel that a plan names is the one that its launch multiplies with",
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
    int seen = 0;
    for (const Problem& p : problems) {
      const RungKernel kernel = rung.plan(p, h200_sms).kernel;
      const std::string kernels = kernels_of(bench, rung, p), name = kernel_name(kernel.function);
      CAPTURE(rung.id(), p.describe(), kernels, name);
      // Before it operands may be copied, and behind it sums be added or the tail kernel run.
      CHECK((", " + kernels + ", ").find(", " + name + ", ") != std::string::npos);
      CHECK(name.substr(0, name.find('<')).ends_with("_product"));
      int blocks = 0;
      FATHOM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, kernel.function, kernel.threads, kernel.dynamic_shared_bytes));
      CHECK(blocks > 0);
      if (const auto launched = test::last_launch(kernel.function)) {
        ++seen;
        CHECK(launched->threads == kernel.threads);
        CHECK(launched->dynamic_shared_bytes == kernel.dynamic_shared_bytes);
      }
    }
    CHECK(seen > 0);
    const Problem empty = make_problem(rung.of, 0, 64, 64);
    CHECK(kernels_of(bench, rung, empty) == "none");
    CHECK(rung.plan(empty, h200_sms).kernel.function == nullptr);
  }
}
