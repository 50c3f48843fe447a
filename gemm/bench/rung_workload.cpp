#include "gemm/bench/rung_workload.h"

#include <fmt/format.h>

#include "gemm/bench/fastest_way.h"
#include "gemm/bench/kernel_names.h"
#include "gemm/bench/shapes.h"
#include "harness/cuda_check.h"
#include "models/tile_quantisation.h"
#include "results/error.h"

namespace fathom::gemm {

std::map<std::string, double> tile_losses(const RungKernel& kernel, const Problem& p,
                                          int blocks_per_sm, int sms) {
  const bool shared_equally = kernel.parts == 0;
  const int parts = shared_equally ? 1 : kernel.parts;
  if (kernel.tile_m == 0 || blocks_per_sm <= 0 || p.k < std::int64_t{kernel.tile_k} * parts)
    return {};
  const auto whole = [](auto value) { return static_cast<std::uint64_t>(value); };
  // The rung's own view is row-major: its rows are BLAS's columns.
  const models::TileQuantisation q = models::tile_quantisation(
      {.m = whole(p.n),
       .n = whole(p.m),
       .k = whole(p.k),
       .tile_m = whole(kernel.tile_m),
       .tile_n = whole(kernel.tile_n),
       .tile_k = whole(kernel.tile_k),
       .split_k = whole(parts),
       .cluster_m = whole(kernel.cluster_m),
       .cluster_n = whole(kernel.cluster_n),
       .blocks_per_sm = blocks_per_sm,
       .sms = sms,
       .cost = blocks_per_sm > 1 ? models::BlockCost::throughput : models::BlockCost::latency});
  return {{"waves", q.waves.waves},
          {"tile_efficiency", shared_equally ? q.padding_efficiency : q.efficiency}};
}

namespace {

using Extras = std::map<std::string, double>;

/// What the kernel that multiplies takes of an SM, and what tiles cost it. It has run before.
Extras kernel_extras(const RungKernel& kernel, const Problem& problem, const DeviceFacts& device) {
  cudaFuncAttributes attributes{};
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, kernel.function));
  int blocks = 0;
  FATHOM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel.function, kernel.threads,
      static_cast<std::size_t>(kernel.dynamic_shared_bytes)));
  const double resident = double(blocks) * kernel.threads;
  Extras extras = tile_losses(kernel, problem, blocks, device.sms);
  extras["registers"] = attributes.numRegs;
  extras["shared_bytes"] = double(attributes.sharedSizeBytes) + kernel.dynamic_shared_bytes;
  extras["threads_per_block"] = kernel.threads;
  extras["resident_warps"] = resident / 32;
  extras["theoretical_occupancy"] = 100 * resident / device.threads_per_sm;
  return extras;
}

/// The index of the fastest of a plan's variants.
std::size_t autotune(Context& context, const Rung& rung, const std::vector<RungPlan>& variants,
                     Operands& operands, const Workspace& workspace) {
  const auto launch = [&](std::size_t i) {
    variants[i].launch(operands.arguments(), workspace, context.stream());
  };
  const auto is_right = [&](std::size_t i) {
    operands.reset_c();
    launch(i);
    FATHOM_CUDA(cudaStreamSynchronize(context.stream()));
    if (const auto wrong = operands.verify())
      throw Error(ExitCode::check_failed,
                  fmt::format("{} as {}: {}", rung.id(), variants[i].name, *wrong));
    return true;
  };
  return find_fastest(context, variants.size(), is_right, launch).value();
}

}  // namespace

Workload rung_workload(Context& context, const Rung& rung, const Problem& problem,
                       const std::shared_ptr<RunMemory>& memory) {
  const auto operands = std::make_shared<Operands>(context, memory, problem, "rung", rung.promoted);
  const int sms = context.device().sms;
  RungPlan plan = rung.plan(problem, sms);
  Workspace workspace{nullptr, plan.workspace_bytes, sms};
  if (workspace.bytes != 0)
    workspace.data = context.buffers().output("workspace of rung", workspace.bytes).data;
  if (!plan.variants.empty()) {
    const std::string key = rung.id() + " " + problem.describe();
    if (!memory->choices.contains(key))
      memory->choices[key] = autotune(context, rung, plan.variants, *operands, workspace);
    plan = RungPlan(plan.variants[memory->choices[key]]);
  }

  Workload workload = verified_workload(
      [launch = plan.launch, operands, workspace, stream = context.stream()] {
        launch(operands->arguments(), workspace, stream);
      },
      operands);
  workload.extras = [kernel = plan.kernel, problem, operands, &device = context.device()] {
    Extras extras = kernel.function ? kernel_extras(kernel, problem, device) : Extras{};
    extras["relative_frobenius_error"] = operands->accuracy().relative_frobenius;
    extras["worst_error_of_allowed"] = operands->accuracy().worst;
    return extras;
  };
  workload.notes = [plan] {
    std::map<std::string, std::string> all;
    if (!plan.name.empty()) all["variant"] = plan.name + ", tuned";
    if (plan.kernel.function != nullptr) all[kernel_note] = kernel_name(plan.kernel.function);
    return all;
  };
  return workload;
}

}  // namespace fathom::gemm
