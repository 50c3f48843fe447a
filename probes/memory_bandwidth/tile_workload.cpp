#include <algorithm>
#include <numeric>
#include <vector>

#include "harness/cuda_check.h"
#include "probes/memory_bandwidth/cases.h"
#include "probes/memory_bandwidth/checks.h"

// A plan of single tiles as a case.

namespace fathom::memory_bandwidth {
namespace {

struct TileShape {
  TilePlan plan;
  std::uint64_t region = 0;  ///< bytes of a source or a destination
  std::uint32_t parts = 1;
  int passes = 1;
  double bytes_moved = 0;  ///< by a launch; a copy's bytes count as read and as written
  std::uint64_t part_bytes() const {
    return static_cast<std::uint64_t>(plan.warps) * plan.access.tile();
  }
  int threads() const { return plan.warps * warp_lanes; }
};

TileShape shape_of(const TilePlan& plan) {
  const std::uint64_t ways = plan.access.operation == Operation::copy ? 2 : 1;
  TileShape shape;
  shape.plan = plan;
  shape.parts = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, plan.bytes / ways / shape.part_bytes()));
  shape.region = shape.parts * shape.part_bytes();
  const double pass = static_cast<double>(shape.region * ways);
  shape.passes = std::max(1, static_cast<int>(plan.traffic / pass + 0.5));
  shape.bytes_moved = pass * shape.passes;
  return shape;
}

Workload prepare(Context& context, const TileShape& shape) {
  cudaStream_t stream = context.stream();
  const Access access = shape.plan.access;
  TileRun run;
  run.access = access;
  run.parts = shape.parts;
  run.blocks = static_cast<int>(shape.parts) * shape.passes;
  run.threads = shape.threads();
  const Ends ends = ends_of(context, access.operation, shape.region);
  run.src = ends.src.data;
  run.dst = ends.dst.data;
  Buffer sums;
  if (access.operation == Operation::load) {
    sums = context.buffers().output("sums", tile_sums * sizeof(std::uint32_t));
    run.sums = sums.as<std::uint32_t>();
  }
  prepare_tiles(access);
  Workload workload;
  workload.launch = [=] { launch_tiles(run, stream); };
  workload.poison = [=, &context] {
    if (ends.dst.data != nullptr) context.buffers().poison(ends.dst);
    // The sums go on from launch to launch; that of one launch is looked at.
    if (sums.data != nullptr) FATHOM_CUDA(cudaMemsetAsync(sums.data, 0, sums.bytes, stream));
  };
  workload.verify = check_of(context, access, ends, static_cast<int>(shape.parts), shape.plan.warps,
                             static_cast<std::uint64_t>(shape.passes), [=] {
                               const auto parts = copy_to_host<std::uint32_t>(sums, stream);
                               return std::accumulate(parts.begin(), parts.end(), std::uint32_t{0});
                             });
  return workload;
}

}  // namespace

Case tile_case(const DeviceFacts& device, Point point, const TilePlan& plan) {
  const TileShape shape = shape_of(plan);
  const Access& access = plan.access;
  const int blocks_per_sm = resident_tile_blocks(access, shape.threads());
  const double working_set = shape.bytes_moved / shape.passes;
  const auto in_flight = static_cast<std::int64_t>(blocks_per_sm) * plan.sms *
                         static_cast<std::int64_t>(shape.part_bytes());
  point.operation = access.operation;
  point.width = access.width;
  point.instruction = instruction_of(access);
  point.more = {{"SMs", std::int64_t{plan.sms}},
                {"warps per SM", std::int64_t{plan.warps * blocks_per_sm}},
                {"loads in flight", std::int64_t{access.loads}},
                {"sharing", "each warp one tile"},
                {"working set (B)", static_cast<std::int64_t>(working_set)},
                {"bytes in flight (B)", in_flight}};
  Case c = make_case(point);
  c.value = rate(shape.bytes_moved);
  c.cache = plan.cache;
  c.bound = load_store_bound(device, plan.sms);
  c.extras = {{"bytes_moved", shape.bytes_moved}, {"passes", shape.passes}};
  c.prepare = [shape](Context& context) { return prepare(context, shape); };
  return c;
}

}  // namespace fathom::memory_bandwidth
