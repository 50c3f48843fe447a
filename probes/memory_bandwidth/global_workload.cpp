#include <algorithm>
#include <utility>

#include "harness/cuda_check.h"
#include "probes/memory_bandwidth/cases.h"
#include "probes/memory_bandwidth/checks.h"

// A plan through global memory as a case: what it moves, how that is checked and bounded.

namespace fathom::memory_bandwidth {
namespace {

std::uint32_t sum_of_reports(const Buffer& reports, cudaStream_t stream) {
  std::uint32_t sum = 0;
  for (const WarpReport& r : copy_to_host<WarpReport>(reports, stream)) sum += r.sum;
  return sum;
}

/// Launches `run` on the first of the SMs in their order, one block on each.
std::function<void()> launch_on_chosen(Context& context, const GlobalRun& run) {
  cudaStream_t stream = context.stream();
  SmRun chosen;
  chosen.global = run;
  chosen.sms = context.device().sms;
  chosen.shared_bytes = one_block_shared_bytes(context.device());
  const Buffer started = context.buffers().output("started", sizeof(unsigned));
  FATHOM_CUDA(cudaMemsetAsync(started.data, 0, started.bytes, stream));
  chosen.started = started.as<unsigned>();
  prepare_on_sms(chosen.shared_bytes);
  return [=] { launch_on_sms(chosen, stream); };
}

Workload prepare(Context& context, const GlobalShape& shape,
                 const std::shared_ptr<Readings>& readings) {
  cudaStream_t stream = context.stream();
  const Access access = shape.plan.access;
  GlobalRun run;
  run.access = access;
  run.walk = shape.walk;
  run.blocks = shape.blocks();
  run.threads = shape.walk_shape.warps * warp_lanes;
  const Ends ends = ends_of(context, access.operation, shape.region);
  run.src = ends.src.data;
  run.dst = ends.dst.data;
  const std::size_t warps =
      static_cast<std::size_t>(run.blocks) * static_cast<std::size_t>(shape.walk_shape.warps);
  const Buffer reports = context.buffers().output("reports", warps * sizeof(WarpReport));
  run.reports = reports.as<WarpReport>();
  std::function<void()> launch;
  if (shape.plan.chosen_sms) {
    launch = launch_on_chosen(context, run);
  } else {
    prepare_global(access);
    launch = [=] { launch_global(run, stream); };
  }

  Workload workload =
      reporting_workload(context, reports, shape.bytes_moved / static_cast<double>(warps),
                         shape.plan.in_kernel, readings, std::move(launch));
  workload.poison = [=, &context] {
    context.buffers().poison(reports);
    if (ends.dst.data != nullptr) context.buffers().poison(ends.dst);
  };
  workload.verify =
      check_of(context, access, ends, run.blocks, run.threads / warp_lanes,
               touches_per_pass(shape.walk_shape) * static_cast<std::uint64_t>(shape.passes),
               [=] { return sum_of_reports(reports, stream); });
  return workload;
}

std::string name_of(Sharing sharing) {
  constexpr const char* names[] = {"each warp its part", "each SM its part", "every SM everything"};
  return names[static_cast<int>(sharing)];
}

}  // namespace

double GlobalShape::in_flight() const {
  return static_cast<double>(walk_shape.blocks) * walk_shape.warps *
         static_cast<double>(walk_shape.tile);
}

GlobalShape shape_of(const GlobalPlan& plan) {
  const bool copies = plan.access.operation == Operation::copy;
  GlobalShape shape;
  shape.plan = plan;
  shape.walk_shape = {plan.sharing, plan.sms * plan.blocks_per_sm, plan.warps, plan.access.tile()};
  const std::uint64_t wanted = copies ? plan.bytes / 2 : plan.bytes;
  while (granule(shape.walk_shape) > wanted && shape.walk_shape.warps > 1)
    shape.walk_shape.warps /= 2;
  const std::uint64_t unit = granule(shape.walk_shape);
  shape.region = std::max<std::uint64_t>(1, wanted / unit) * unit;
  shape.working_set = copies ? 2 * shape.region : shape.region;
  const double pass = static_cast<double>(shape.working_set) *
                      static_cast<double>(touches_per_pass(shape.walk_shape));
  shape.passes = std::max(1, static_cast<int>(plan.traffic / pass + 0.5));
  shape.walk = plan_walk(shape.walk_shape, shape.region, shape.passes);
  shape.bytes_moved = pass * shape.passes;
  return shape;
}

Case global_case(const DeviceFacts& device, Point point, const GlobalPlan& plan) {
  const GlobalShape shape = shape_of(plan);
  const Access& access = plan.access;
  point.operation = access.operation;
  point.width = access.width;
  point.instruction = instruction_of(access);
  point.more = {{"SMs", std::int64_t{plan.sms}},
                {"warps per SM", std::int64_t{shape.walk_shape.warps * plan.blocks_per_sm}},
                {"loads in flight", std::int64_t{access.loads}},
                {"sharing", name_of(plan.sharing)},
                {"working set (B)", static_cast<std::int64_t>(shape.working_set)},
                {"bytes in flight (B)", static_cast<std::int64_t>(shape.in_flight())}};
  if (plan.chosen_sms) point.more.emplace_back("SM order", "even smids first");
  Case c = make_case(point);
  c.value = rate(shape.bytes_moved);
  c.cache = plan.cache;
  c.bound = load_store_bound(device, plan.sms);
  c.extras = {{"bytes_moved", shape.bytes_moved}, {"passes", shape.passes}};
  c.prepare = [shape, readings = std::make_shared<Readings>()](Context& context) {
    return prepare(context, shape, readings);
  };
  return c;
}

}  // namespace fathom::memory_bandwidth
