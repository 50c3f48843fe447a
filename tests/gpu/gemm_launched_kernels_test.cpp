// That the resources which are told of a rung are those of the kernel that its launch runs.

#include "gemm/bench/cases.h"
#include "gemm/bench/launched_kernels.h"
#include "gemm/bench/rung_workload.h"
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
  return launched_kernels(
      [&] {
        plan.launch({p, any.data, any.data, any.data}, workspace, bench.stream.get());
      },
      bench.stream.get());
}

std::string multiplying(const std::vector<LaunchedKernel>& kernels) {
  const LaunchedKernel* kernel = product_kernel(kernels);
  return kernel == nullptr ? "none" : ladder_kernel_name(kernel->name);
}

}  // namespace

TEST_CASE("at the ladder's size the kernel that a rung is made for is the one that it launches",
          "[gpu][gemm]") {
  test::RungBench bench;
  for (const Rung& rung : all_rungs()) {
    if (!bench.runs(rung)) continue;
    CAPTURE(rung.id());
    const Problem p = ladder_problem(rung, ladder_size);
    const RungKernel& expected = rung.kernel;
    const std::vector<LaunchedKernel> kernels = kernels_of(bench, rung, p);
    const LaunchedKernel* kernel = product_kernel(kernels);
    REQUIRE(kernel != nullptr);
    const char* name = nullptr;
    FATHOM_CUDA(cudaFuncGetName(&name, expected.function));
    CHECK(kernel->name == name);
    CHECK(kernel->threads == expected.threads);
    CHECK(kernel->dynamic_shared_bytes == expected.dynamic_shared_bytes);

    // The driver's handle and the runtime's mean the same kernel.
    cudaFuncAttributes attributes{};
    FATHOM_CUDA(cudaFuncGetAttributes(&attributes, expected.function));
    int blocks = 0;
    FATHOM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, expected.function, expected.threads, expected.dynamic_shared_bytes));
    const KernelResources resources = resources_of(*kernel);
    CHECK(resources.registers == attributes.numRegs);
    CHECK(resources.shared_bytes ==
          static_cast<int>(attributes.sharedSizeBytes) + expected.dynamic_shared_bytes);
    CHECK(resources.blocks_per_sm == blocks);
    CHECK(blocks > 0);
  }
}

TEST_CASE("every launch of a rung that multiplies has a kernel that does, and no other",
          "[gpu][gemm]") {
  test::RungBench bench;
  for (const Rung& rung : all_rungs()) {
    if (!bench.runs(rung)) continue;
    for (const auto& [m, n, k] : {Shape{256, 256, 256},
                                  {1024, 1024, 1024},
                                  {4095, 4095, 4095},
                                  {16, 8192, 8192},
                                  {8192, 128, 8192},
                                  {67, 61, 97},
                                  {1, 1, 1}}) {
      for (const Transpose transa : {Transpose::no, Transpose::yes}) {
        const Problem p = make_problem(rung.of, m, n, k, transa);
        CAPTURE(rung.id(), p.describe());
        CHECK(multiplying(kernels_of(bench, rung, p)) != "none");
      }
    }
    CAPTURE(rung.id());
    CHECK(kernels_of(bench, rung, make_problem(rung.of, 0, 64, 64)).empty());
  }
}

TEST_CASE("the kernel whose tile is told of a product is the one that is launched for it",
          "[gpu][gemm]") {
  test::RungBench bench;
  for (const Rung& rung : all_rungs()) {
    if (!rung.contender || !bench.runs(rung)) continue;
    int told = 0;
    for (const auto& [m, n, k] : {Shape{4096, 4096, 4096},
                                  {3088, 4096, 4096},
                                  {4096, 3088, 4096},
                                  {1024, 1024, 1024},
                                  {100, 8192, 8192},
                                  {8192, 128, 8192},
                                  {16, 8192, 8192},
                                  {4095, 4095, 4095}}) {
      for (const Transpose transa : {Transpose::no, Transpose::yes}) {
        for (const Transpose transb : {Transpose::no, Transpose::yes}) {
          const Problem p = make_problem(rung.of, m, n, k, transa, transb);
          const RungKernel expected = rung.plan(p, h200_sms).kernel;
          if (expected.function == nullptr) continue;
          CAPTURE(rung.id(), p.describe());
          ++told;
          const std::vector<LaunchedKernel> kernels = kernels_of(bench, rung, p);
          const LaunchedKernel* kernel = product_kernel(kernels);
          REQUIRE(kernel != nullptr);
          const char* name = nullptr;
          FATHOM_CUDA(cudaFuncGetName(&name, expected.function));
          CHECK(kernel_template(kernel->name) == kernel_template(name));
          CHECK(kernel->threads == expected.threads);
          CHECK(kernel->dynamic_shared_bytes == expected.dynamic_shared_bytes);
        }
      }
    }
    CHECK(told >= 8);
  }
}

TEST_CASE("where a rung goes another way for small, skinny or odd products, that kernel is named",
          "[gpu][gemm]") {
  test::RungBench bench;
  struct Expected {
    const char *rung, *kernel;
    Shape shape;
  };
  for (const Expected& e :
       {Expected{
            "fp32/row_major/09_vectorised", "fp32::row_major::vectorised_product", {256, 256, 256}},
        {"fp32/row_major/09_vectorised", "any_product", {255, 255, 255}},
        {"fp32/26_sliced_depth", "fp32::sliced_product", {15, 15, 15}},
        {"fp32/26_sliced_depth", "fp32::sliced_product", {16, 8192, 8192}},
        {"fp32/26_sliced_depth", "fp32::warp_specialised_product<", {4096, 4096, 4096}},
        {"fp64/08_late_reads", "fp64::tma_product<", {4096, 4096, 4096}},
        {"fp16/15_deferred_stores",
         "specialised_product<TmaKernel<ColumnHalves<",
         {128, 8192, 8192}},
        {"fp16/15_deferred_stores", "specialised_product<TmaKernel<Columns16<", {16, 8192, 8192}},
        {"bf16/15_deferred_stores",
         "specialised_product<TmaKernel<LargeClusters<",
         {4096, 4096, 4096}},
        {"tf32/03_large_clusters", "streamed_product<", {16, 8192, 8192}},
        {"tf32/03_large_clusters",
         "specialised_product<TmaKernel<tf32::LargeClusters",
         {4096, 4096, 4096}}}) {
    const Rung& rung = *find_rung(e.rung);
    if (!bench.runs(rung)) continue;
    const auto& [m, n, k] = e.shape;
    const std::string kernel = multiplying(kernels_of(bench, rung, make_problem(rung.of, m, n, k)));
    CAPTURE(e.rung, m, kernel);
    CHECK(kernel.starts_with(e.kernel));
  }
}

TEST_CASE("a workload tells what the kernel takes that ran", "[gpu][gemm]") {
  test::RungBench bench;
  const auto told = [&](const Rung& rung, std::int64_t size) {
    const Workload workload =
        rung_workload(bench.context, rung, make_problem(rung.of, size, size, size),
                      bench.references, std::make_shared<TunedChoices>());
    workload.poison();
    workload.launch();
    bench.wait();
    CHECK_FALSE(workload.verify().has_value());
    auto extras = workload.extras();
    CAPTURE(workload.notes().at("kernel"));
    CHECK(extras.at("registers") > 0);
    CHECK(extras.at("resident_warps") > 0);
    return extras;
  };
  const Rung& whole = *find_rung("fp32/row_major/09_vectorised");
  CHECK(told(whole, 256).contains("tile_efficiency"));
  CHECK_FALSE(told(whole, 255).contains("tile_efficiency"));  // not by its own tile
  const Rung& top = *find_rung("fp32/26_sliced_depth");
  if (!bench.runs(top)) return;
  const auto of_narrow = told(top, 16), of_large = told(top, 2048);
  CHECK(of_large.at("threads_per_block") == top.kernel.threads);
  CHECK(of_narrow.at("shared_bytes") < of_large.at("shared_bytes"));
  CHECK_FALSE(of_narrow.contains("waves"));
  CHECK(of_large.contains("waves"));
}
