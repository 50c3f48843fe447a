// What a rung's plan and its workload tell is what runs, and autotuning takes no wrong variant.

#include "gemm/bench/cases.h"
#include "gemm/bench/shapes.h"
#include "results/error.h"
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

Workload workload_of(test::RungBench& bench, const Rung& rung, std::int64_t size) {
  return rung_workload(bench.context, rung, make_problem(rung.of, size, size, size), bench.memory);
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

TEST_CASE("a variant whose product is wrong is never chosen: tuning ends there", "[gpu][gemm]") {
  test::RungBench bench;
  Rung rung = *find_rung("fp32/row_major/10_autotuned");
  rung.plan = [plan = rung.plan](const Problem& p, int sms) {
    RungPlan more = plan(p, sms);
    more.variants.push_back(RungPlan(more.variants.front()));
    more.variants.back().name = "does nothing";
    more.variants.back().launch = [](const Arguments&, const Workspace&, cudaStream_t) {};
    return more;
  };
  try {
    workload_of(bench, rung, 256);
    FAIL("the variant that does nothing was not noticed");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::check_failed);
    CHECK(std::string(error.what()).find("does nothing") != std::string::npos);
  }
}

TEST_CASE("a workload tells what the kernel takes that ran", "[gpu][gemm]") {
  test::RungBench bench;
  const auto told = [&](const Rung& rung, std::int64_t size) {
    const Workload workload = workload_of(bench, rung, size);
    workload.poison();
    workload.launch();
    bench.wait();
    CHECK_FALSE(workload.verify().has_value());
    auto extras = workload.extras();
    const auto notes = workload.notes();
    CAPTURE(notes.at("kernel"));
    CHECK(extras.at("registers") > 0);
    CHECK(extras.at("resident_warps") > 0);
    CHECK((extras.at("theoretical_occupancy") > 0 && extras.at("theoretical_occupancy") <= 100));
    CHECK(notes.contains("variant") == (rung.id() == "fp32/row_major/10_autotuned"));
    return extras;
  };
  told(*find_rung("fp32/row_major/10_autotuned"), 512);
  const Rung& whole = *find_rung("fp32/row_major/09_vectorised");
  const auto of_whole = told(whole, 256);
  CHECK((of_whole.at("tile_efficiency") > 0 && of_whole.at("tile_efficiency") <= 1));
  CHECK_FALSE(told(whole, 255).contains("tile_efficiency"));  // not by its own tile
  const Rung& top = *find_rung("fp32/26_sliced_depth");
  if (!bench.runs(top)) return;
  const auto of_narrow = told(top, 16), of_large = told(top, 2048);
  CHECK(of_narrow.at("shared_bytes") < of_large.at("shared_bytes"));
  CHECK_FALSE(of_narrow.contains("waves"));
  CHECK(of_large.contains("waves"));
}
