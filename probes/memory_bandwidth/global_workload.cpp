#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "probes/memory_bandwidth/cases.h"

// A plan through global memory as a case: what it moves, how that is checked and bounded.

namespace fathom::memory_bandwidth {
namespace {

/// Prefixes of one buffer up to a size and of another above it, so that a curve of many sizes fills
/// random data twice and not for each of them.
Buffer source(Context& context, std::uint64_t bytes) {
  const std::uint64_t whole =
      bytes <= BufferPool::small_bytes ? BufferPool::small_bytes : largest_region(context.device());
  return {context.buffers().input("src", std::max(bytes, whole)).data, bytes};
}

template <class T>
T read_word(const Buffer& word, cudaStream_t stream) {
  return copy_to_host<T>(word.data, 1, stream).front();
}

std::uint32_t sum_of(Context& context, const Buffer& data) {
  const Buffer word = context.buffers().output("word", sizeof(unsigned long long));
  launch_sum(data.data, data.bytes / sizeof(std::uint32_t), word.as<std::uint32_t>(),
             context.stream());
  return read_word<std::uint32_t>(word, context.stream());
}

std::optional<std::string> check_sums(const Buffer& reports, std::uint32_t expected,
                                      cudaStream_t stream) {
  std::uint32_t sum = 0;
  for (const WarpReport& r : copy_to_host<WarpReport>(reports, stream)) sum += r.sum;
  if (sum == expected) return std::nullopt;
  return fmt::format("the words loaded sum to {:#x} instead of {:#x}", sum, expected);
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
  Buffer src, dst;
  if (access.operation != Operation::store) {
    src = source(context, shape.region);
    run.src = src.data;
  }
  if (access.operation != Operation::load) {
    dst = context.buffers().output("dst", shape.region);
    run.dst = dst.data;
  }
  const std::size_t warps =
      static_cast<std::size_t>(run.blocks) * static_cast<std::size_t>(shape.walk_shape.warps);
  const Buffer reports = context.buffers().output("reports", warps * sizeof(WarpReport));
  run.reports = reports.as<WarpReport>();
  prepare_global(access);

  Workload workload =
      reporting_workload(context, reports, shape.bytes_moved / static_cast<double>(warps),
                         shape.plan.in_kernel, readings, [=] { launch_global(run, stream); });
  workload.poison = [=, &context] {
    context.buffers().poison(reports);
    if (dst.data != nullptr) context.buffers().poison(dst);
  };
  switch (access.operation) {
    case Operation::load: {
      const auto touches =
          touches_per_pass(shape.walk_shape) * static_cast<std::uint64_t>(shape.passes);
      const std::uint32_t expected = sum_of(context, src) * static_cast<std::uint32_t>(touches);
      workload.verify = [=] { return check_sums(reports, expected, stream); };
      break;
    }
    case Operation::store: {
      const Buffer word = context.buffers().output("word", sizeof(unsigned long long));
      workload.verify = [=]() -> std::optional<std::string> {
        launch_count_wrong(dst.data, dst.bytes, access, run.blocks, run.threads / warp_lanes,
                           word.as<unsigned long long>(), stream);
        const auto wrong = read_word<unsigned long long>(word, stream);
        if (wrong == 0) return std::nullopt;
        return fmt::format("{} of {} words were not stored", wrong, dst.bytes / 4);
      };
      break;
    }
    case Operation::copy:
      workload.verify = [=]() -> std::optional<std::string> {
        const std::uint64_t wrong = count_different_bytes(src.data, dst.data, dst.bytes, stream);
        if (wrong == 0) return std::nullopt;
        return fmt::format("{} of {} bytes were not copied", wrong, dst.bytes);
      };
      break;
  }
  return workload;
}

std::string name_of(Sharing sharing) {
  switch (sharing) {
    case Sharing::interleaved:
      return "each warp its part";
    case Sharing::by_block:
      return "each SM its part";
    case Sharing::by_all:
      return "every SM everything";
  }
  return "";
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
  while (granule(shape.walk_shape) > wanted && shape.walk_shape.warps > 1) {
    shape.walk_shape.warps /= 2;
  }
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

void count(Case& c, const GlobalShape& shape, bool dram) {
  constexpr double sector = 32;
  const Operation operation = shape.plan.access.operation;
  const double one_way = operation == Operation::copy ? shape.bytes_moved / 2 : shape.bytes_moved;
  if (operation != Operation::store) {
    c.counters.push_back({"global_load_sectors", one_way / sector, 0, "bytes loaded / 32"});
    c.counters.push_back({"l2_read_sectors", std::nullopt, 0, ""});
  }
  if (operation != Operation::load) {
    c.counters.push_back({"global_store_sectors", one_way / sector, 0.005,
                          "bytes stored / 32, the reports left out"});
    c.counters.push_back({"l2_write_sectors", std::nullopt, 0, ""});
  }
  c.counters.push_back({"l1_hit_rate", std::nullopt, 0, ""});
  c.counters.push_back({"l2_hit_rate", std::nullopt, 0, ""});
  if (!dram) {
    c.counters.push_back({"dram_read_bytes", std::nullopt, 0, ""});
    return;
  }
  if (operation != Operation::store) {
    c.counters.push_back({"dram_read_bytes", one_way, 0.02, "every byte loaded once"});
  }
  if (operation != Operation::load) {
    c.counters.push_back({"dram_write_bytes", one_way, 0.05,
                          "every byte stored once; the L2 may keep the last of them back"});
  }
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
  Case c = make_case(point);
  c.value = rate(shape.bytes_moved);
  c.cache = plan.cache;
  const bool may_hit_l1 = access.operation == Operation::load && access.path == Path::cached;
  const double port = access.operation == Operation::copy ? 2 * l2_port_bytes : l2_port_bytes;
  c.bound = may_hit_l1
                ? sm_bound(device, plan.sms, l1_bytes_per_clock(device), "the L1's data stage")
                : sm_bound(device, plan.sms, port,
                           access.operation == Operation::copy
                               ? "the SM's port to the L2, both directions"
                               : "the SM's port to the L2, one direction");
  c.extras = {{"bytes_moved", shape.bytes_moved}, {"passes", shape.passes}};
  c.prepare = [shape, readings = std::make_shared<Readings>()](Context& context) {
    return prepare(context, shape, readings);
  };
  return c;
}

}  // namespace fathom::memory_bandwidth
