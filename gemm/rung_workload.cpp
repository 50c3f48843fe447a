#include "gemm/rung_workload.h"

#include <algorithm>

#include "gemm/autotune.h"
#include "harness/cuda_check.h"
#include "models/tile_quantisation.h"

namespace fathom::gemm {

std::map<std::string, double> tile_losses(const RungKernel& kernel, const Problem& p,
                                          int blocks_per_sm, int sms) {
  if (kernel.tile_m <= 0 || kernel.tile_n <= 0 || kernel.tile_k <= 0 || blocks_per_sm <= 0)
    return {};
  const bool shared_equally = kernel.parts == 0;
  const int parts = shared_equally ? 1 : kernel.parts;
  if (p.m <= 0 || p.n <= 0 || p.k < std::int64_t{kernel.tile_k} * parts) return {};
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
       .blocks_per_sm = blocks_per_sm,
       .sms = sms,
       .cost = blocks_per_sm > 1 ? models::BlockCost::throughput : models::BlockCost::latency});
  return {{"waves", q.waves.waves},
          {"tile_efficiency", shared_equally ? q.padding_efficiency : q.efficiency}};
}

namespace {

using Extras = std::map<std::string, double>;

/// Resources of the kernel as the driver sees them.
Extras kernel_resources(const RungKernel& kernel, const Problem& problem, const DeviceFacts& device,
                        bool own_path) {
  if (kernel.function == nullptr) return {};
  cudaFuncAttributes attributes{};
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, kernel.function));
  int blocks = 0;
  FATHOM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, kernel.threads,
                                                            kernel.dynamic_shared_bytes));
  Extras extras{{"registers", double(attributes.numRegs)},
                {"shared_bytes", double(attributes.sharedSizeBytes) + kernel.dynamic_shared_bytes},
                {"threads_per_block", double(kernel.threads)},
                {"resident_warps", double(blocks) * kernel.threads / 32}};
  if (device.threads_per_sm > 0) {
    extras["theoretical_occupancy"] = 100.0 * blocks * kernel.threads / device.threads_per_sm;
  }
  if (own_path) extras.merge(tile_losses(kernel, problem, blocks, device.sms));
  return extras;
}

/// How a product will be done: as the rung does it by itself, or in a variant.
struct Way {
  RungKernel kernel;
  std::function<void(const Arguments&, const Workspace&, cudaStream_t)> launch;
  Extras extras;
  std::map<std::string, std::string> notes;
};

Way choose_way(Context& context, const Rung& rung, const std::vector<Variant>& variants,
               const Operands& operands, const Workspace& workspace, Tuning& tuning) {
  Way way{rung.kernel, rung.launch, {}, {}};
  if (variants.empty()) return way;
  const Problem& problem = operands.arguments().problem;
  const TunedChoice* choice = tuning.find(rung, problem, variants);
  // A choice of an earlier run is made anew; that of this run is kept for its later rounds.
  if (tuning.tunes() && !tuning.is_of_this_run(choice)) {
    tuning.keep(autotune(context, rung, variants, operands, workspace));
    choice = tuning.find(rung, problem, variants);
  }
  const Variant& taken =
      choice == nullptr ? variants.front() : *std::ranges::find(variants, choice->variant, &Variant::name);
  way.kernel = taken.kernel;
  way.notes["variant"] = taken.name;
  way.extras = {{"tuned", choice == nullptr ? 0.0 : 1.0}};
  if (choice != nullptr) {
    way.launch = taken.launch;
    way.notes["variant"] += ", tuned " + choice->date;
  }
  return way;
}

}  // namespace

Workload rung_workload(Context& context, const Rung& rung, const Problem& problem,
                       const std::shared_ptr<ReferenceStore>& references,
                       const std::shared_ptr<Tuning>& tuning) {
  const auto operands = std::make_shared<Operands>(context, references, problem, "rung", rung.promoted);
  const int sms = context.device().sms;
  const std::vector<Variant> variants = rung.variants(problem, sms);
  std::size_t scratch = rung.workspace_bytes(problem, sms);
  for (const Variant& variant : variants) scratch = std::max(scratch, variant.workspace_bytes);
  Workspace workspace{nullptr, scratch, sms};
  if (scratch != 0) workspace.data = context.buffers().output("workspace of rung", scratch).data;
  const Way way = choose_way(context, rung, variants, *operands, workspace, *tuning);

  const auto accuracy = std::make_shared<Accuracy>();
  Workload workload;
  workload.launch = [launch = way.launch, operands, workspace, stream = context.stream()] {
    launch(operands->arguments(), workspace, stream);
  };
  workload.poison = [operands] { operands->reset_c(); };
  workload.verify = [operands, accuracy] { return operands->verify(*accuracy); };
  workload.extras = [way, problem, accuracy, &device = context.device(),
                     own_path = rung.takes_own_path(problem)] {
    Extras extras = kernel_resources(way.kernel, problem, device, own_path);
    extras.insert(way.extras.begin(), way.extras.end());
    extras["relative_frobenius_error"] = accuracy->relative_frobenius;
    extras["worst_error_of_allowed"] = accuracy->worst;
    return extras;
  };
  workload.notes = [notes = way.notes] { return notes; };
  return workload;
}

}  // namespace fathom::gemm
