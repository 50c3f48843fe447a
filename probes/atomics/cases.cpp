#include "probes/atomics/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "harness/cuda_check.h"
#include "models/instruction_throughput.h"
#include "results/statistics.h"

// One case: how it runs, what it must leave behind, and its value from what the blocks saw.

namespace fathom::atomics {
namespace {

/// What the samples have told besides the metric.
struct Readings {
  double clocks = 0, nanoseconds = 0;  ///< of all blocks
  std::vector<double> per_operation;   ///< nanoseconds
};

/// Atomics per clock on one window. L2: from the first block's begin to the last block's end by the
/// global timer, in clocks of the SMs at the rate that the blocks themselves saw. Shared memory:
/// the median block by its own clock.
double take(Readings& readings, const Plan& plan, const std::vector<BlockTimes>& times) {
  double clocks = 0, nanoseconds = 0;
  long long first = times[0].ns_begin, last = times[0].ns_end;
  std::vector<double> per_block;
  for (const BlockTimes& t : times) {
    clocks += static_cast<double>(t.clock_end - t.clock_begin);
    nanoseconds += static_cast<double>(t.ns_end - t.ns_begin);
    first = std::min(first, t.ns_begin);
    last = std::max(last, t.ns_end);
    per_block.push_back(static_cast<double>(t.clock_end - t.clock_begin));
  }
  readings.clocks += clocks;
  readings.nanoseconds += nanoseconds;
  const double clocks_per_ns = clocks / nanoseconds;
  const double taken = plan.instruction.level == Level::l2
                           ? static_cast<double>(last - first) * clocks_per_ns
                           : median(per_block);
  readings.per_operation.push_back(taken / clocks_per_ns / plan.operations());
  return plan.operations() / taken;
}

std::map<std::string, double> extras_of(const Readings& readings) {
  if (readings.per_operation.empty() || readings.nanoseconds <= 0) return {};
  return {{"ns_per_operation", median(readings.per_operation)},
          {"sm_clock_hz", 1e9 * readings.clocks / readings.nanoseconds}};
}

std::optional<std::string> check_times(const std::vector<BlockTimes>& times) {
  for (std::size_t block = 0; block < times.size(); ++block) {
    const BlockTimes& t = times[block];
    if (t.clock_end <= t.clock_begin || t.ns_end < t.ns_begin || t.ns_begin <= 0)
      return fmt::format("block {} reported no times", block);
  }
  return std::nullopt;
}

Workload prepare(Context& context, const Plan& plan) {
  cudaStream_t stream = context.stream();
  BufferPool& buffers = context.buffers();
  const Instruction& instruction = plan.instruction;
  const std::uint64_t window = plan.pattern.window_bytes();
  const Buffer memory = buffers.output("memory", window * plan.windows());
  const Buffer times = buffers.output("times", plan.blocks * sizeof(BlockTimes));
  const std::size_t threads = static_cast<std::size_t>(plan.blocks) * plan.threads;
  const Buffer sums = buffers.output("sums", threads * sizeof(std::uint32_t));
  const Buffer wrong = buffers.output("wrong", sizeof(unsigned long long));

  const Expected expected =
      expect(instruction, plan.pattern, plan.warps(), static_cast<std::uint64_t>(plan.iterations));
  const std::uint32_t start = start_of(instruction.operation);
  Run run{memory.data, plan.pattern,           plan.iterations,         start,
          {},          times.as<BlockTimes>(), sums.as<std::uint32_t>()};
  std::ranges::copy(operand_of(instruction.operation, instruction.type), run.operand);
  const Kernel& kernel = find_kernel(instruction.ptx());
  const int shared_bytes = instruction.level == Level::l2 ? 0 : static_cast<int>(window);
  const auto readings = std::make_shared<Readings>();

  Workload workload;
  workload.launch = [=, &kernel] {
    kernel.launch(run, plan.blocks, plan.threads, shared_bytes, stream);
  };
  workload.poison = [=, &context] {
    // L2: each word of `start` has four equal bytes. Shared memory: the kernel itself begins with
    // it.
    FATHOM_CUDA(cudaMemsetAsync(
        memory.data, static_cast<int>(instruction.level == Level::l2 ? start & 0xFF : 0xA5),
        memory.bytes, stream));
    context.buffers().poison(times);
    FATHOM_CUDA(cudaMemsetAsync(sums.data, 0, sums.bytes, stream));
  };
  workload.verify = [=]() -> std::optional<std::string> {
    FATHOM_CUDA(cudaMemsetAsync(wrong.data, 0, wrong.bytes, stream));
    launch_count_wrong({memory.data, plan.windows(), plan.pattern, instruction.value_bytes(), start,
                        expected, wrong.as<unsigned long long>()},
                       stream);
    const auto count = copy_to_host<unsigned long long>(wrong, stream).front();
    if (count > 0) {
      return fmt::format("{} of {} words hold another result than {} atomics leave", count,
                         memory.bytes / 4, plan.operations() * plan.windows());
    }
    if (instruction.returns) {
      const auto parts = copy_to_host<std::uint32_t>(sums, stream);
      const std::uint32_t sum = std::accumulate(parts.begin(), parts.end(), std::uint32_t{0});
      const std::uint32_t wanted =
          expected.sum_of_returns * static_cast<std::uint32_t>(plan.windows());
      if (sum != wanted) {
        return fmt::format("what the atomics returned sums to {:#x} instead of {:#x}", sum, wanted);
      }
    }
    return check_times(copy_to_host<BlockTimes>(times, stream));
  };
  workload.read_sample = [=] {
    return take(*readings, plan, copy_to_host<BlockTimes>(times, stream));
  };
  if (instruction.level == Level::l2) workload.sample_timer = "globaltimer";
  workload.extras = [readings] { return extras_of(*readings); };
  return workload;
}

/// Every lane has to be issued; and where each has a word of its own, its operand has to pass
/// through the SM's path to the L1 and shared memory, 32 banks of 4 bytes.
Bound bound_of(const DeviceFacts& device, const Plan& plan) {
  const bool shares = plan.pattern.lane_bytes == 0;
  constexpr double bank_bytes = 128;
  const double sm =
      shares ? models::issued_lanes_per_clock : bank_bytes / plan.instruction.value_bytes();
  const std::string of_sm = shares ? "four schedulers, one warp instruction a clock each"
                                   : fmt::format("32 banks of 4 B a clock for operands of {} B",
                                                 plan.instruction.value_bytes());
  if (plan.instruction.level != Level::l2) return {sm, of_sm};
  const int sms = std::min(device.sms, plan.blocks);
  return {sm * sms, fmt::format("{}, on {} SMs", of_sm, sms)};
}

std::vector<CounterRequest> counters_of(const Instruction& instruction) {
  const auto ask = [](std::initializer_list<const char*> roles) {
    std::vector<CounterRequest> requests;
    for (const char* role : roles) requests.push_back({role});
    return requests;
  };
  if (instruction.level == Level::shared)
    return ask({"shared_atomic_instructions", "shared_atomic_wavefronts"});
  if (instruction.level == Level::cluster) return {};
  if (instruction.returns) {
    return ask({"global_atomic_requests", "global_atomic_sectors", "l2_atomic_sectors",
                "l2_hit_rate", "dram_read_bytes"});
  }
  return ask({"global_reduction_requests", "global_reduction_sectors", "l2_reduction_sectors",
              "l2_hit_rate", "dram_read_bytes"});
}

}  // namespace

Case make_case(const DeviceFacts& device, const Plan& plan, const Place& place) {
  const Instruction& instruction = plan.instruction;
  Case c;
  c.name = fmt::format("{}/{}/{}", place.sweep, place.pattern, instruction.ptx());
  c.axes = {{"sweep", place.sweep},
            {"level", name_of(instruction.level)},
            {"instruction", instruction.ptx()},
            {"operation", name_of(instruction.operation)},
            {"type", name_of(instruction.type)},
            {"form", instruction.form()},
            {"scope", instruction.scope},
            {"pattern", place.pattern}};
  for (const auto& [name, value] : place.more) {
    c.axes.emplace_back(name, value);
    if (const auto* number = std::get_if<std::int64_t>(&value))
      c.name += fmt::format("/{}:{}", name.substr(0, name.find(" (")), *number);
    else
      c.name += "/" + std::get<std::string>(value);
  }
  std::ranges::replace(c.name, ' ', '-');
  c.suite = place.suite;
  c.metric = {"throughput", instruction.level == Level::l2 ? "ops/clk" : "ops/clk/SM",
              Better::higher, std::nullopt};
  c.bound = bound_of(device, plan);
  c.precision = Precision{.relative_half_width = 0.005, .min_samples = 9, .time_limit_s = 0.05};
  if (place.counted) c.counters = counters_of(instruction);
  c.prepare = [plan](Context& context) { return prepare(context, plan); };
  return c;
}

}  // namespace fathom::atomics
