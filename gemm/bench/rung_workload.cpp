#include "gemm/bench/rung_workload.h"

#include <fmt/format.h>

#include <optional>

#include "gemm/bench/fastest_way.h"
#include "gemm/bench/launched_kernels.h"
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

/// Whether it is the rung's kernel for this product, however that was compiled for how operands
/// lie: only then are its tiles known.
bool is_of_rung(const LaunchedKernel& launched, const RungKernel& kernel) {
  if (kernel.function == nullptr) return false;
  const char* name = nullptr;
  FATHOM_CUDA(cudaFuncGetName(&name, kernel.function));
  return launched.threads == kernel.threads &&
         launched.dynamic_shared_bytes == kernel.dynamic_shared_bytes &&
         kernel_template(launched.name) == kernel_template(name);
}

/// What the kernel that multiplies takes; `kernel` is the rung's own.
Extras kernel_extras(const LaunchedKernel& launched, const RungKernel& kernel,
                     const Problem& problem, const DeviceFacts& device) {
  const double resident = double(launched.blocks_per_sm) * launched.threads;
  Extras extras{{"registers", double(launched.registers)},
                {"shared_bytes", double(launched.shared_bytes)},
                {"threads_per_block", double(launched.threads)},
                {"resident_warps", resident / 32},
                {"theoretical_occupancy", 100 * resident / device.threads_per_sm}};
  if (is_of_rung(launched, kernel))
    extras.merge(tile_losses(kernel, problem, launched.blocks_per_sm, device.sms));
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
  // Asked once the launch has run, and by extras and notes alike.
  const auto launched = [launch = workload.launch, stream = context.stream(),
                         found = std::make_shared<std::optional<Launched>>()]() -> const Launched& {
    if (!*found) *found = launched_kernels(launch, stream);
    return **found;
  };
  workload.extras = [plan, problem, operands, launched, &device = context.device()] {
    const LaunchedKernel* const kernel = product_kernel(launched().kernels);
    Extras extras = kernel ? kernel_extras(*kernel, plan.kernel, problem, device) : Extras{};
    extras["relative_frobenius_error"] = operands->accuracy().relative_frobenius;
    extras["worst_error_of_allowed"] = operands->accuracy().worst;
    return extras;
  };
  workload.notes = [plan, launched] {
    std::map<std::string, std::string> all;
    if (!plan.name.empty()) all["variant"] = plan.name + ", tuned";
    if (const LaunchedKernel* kernel = product_kernel(launched().kernels))
      all[kernel_note] = kernel_name(kernel->name);
    if (!launched().unknown.empty()) all[kernel_note] = launched().unknown;
    return all;
  };
  return workload;
}

}  // namespace fathom::gemm
