#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "harness/cases.h"
#include "models/instruction_throughput.h"
#include "probes/atomics/kernels.h"
#include "probes/claims.h"
#include "probes/device/launch.h"
#include "results/statistics.h"

namespace fathom::atomics {
namespace {

/// How one instruction is run, on L2 by all blocks together, on shared memory by each block alone.
struct Plan {
  Instruction instruction;
  Pattern pattern;
  int blocks = 1, threads = 1024, iterations = unroll;

  int windows() const { return instruction.level == Level::l2 ? 1 : blocks; }
  /// Warps that share a window.
  std::uint64_t warps() const {
    return static_cast<std::uint64_t>(threads) / 32 * (blocks / windows());
  }
  /// Atomics of the lanes that share a window; a vector or a pair counts as one.
  double operations() const {
    return static_cast<double>(warps()) * pattern.active_lanes * iterations;
  }
};

/// Atomics per clock on one window. L2: from the first block's begin to the last block's end by the
/// global timer, in clocks of the SMs at the rate that the blocks themselves saw. Shared memory:
/// the median block by its own clock. Adds an atomic's nanoseconds to the others.
double take(std::vector<double>& ns_per_operation, const Plan& plan,
            const std::vector<BlockTimes>& times) {
  double nanoseconds = 0;
  std::vector<double> clocks;  // of each block
  for (const BlockTimes& t : times) {
    clocks.push_back(static_cast<double>(t.clock_end - t.clock_begin));
    nanoseconds += static_cast<double>(t.ns_end - t.ns_begin);
  }
  const double clocks_per_ns = std::accumulate(clocks.begin(), clocks.end(), 0.0) / nanoseconds;
  const auto from_first_to_last = std::ranges::max(times, {}, &BlockTimes::ns_end).ns_end -
                                  std::ranges::min(times, {}, &BlockTimes::ns_begin).ns_begin;
  const double taken = plan.instruction.level == Level::l2
                           ? static_cast<double>(from_first_to_last) * clocks_per_ns
                           : median(clocks);
  if (nanoseconds > 0) ns_per_operation.push_back(taken / clocks_per_ns / plan.operations());
  return plan.operations() / taken;
}

Workload prepare(Context& context, const Plan& plan) {
  cudaStream_t stream = context.stream();
  BufferPool& buffers = context.buffers();
  const Instruction& instruction = plan.instruction;
  const bool l2 = instruction.level == Level::l2;
  const Buffer memory = buffers.output("memory", plan.pattern.window_bytes() * plan.windows());
  const Buffer times = buffers.output("times", plan.blocks * sizeof(BlockTimes));
  const Buffer sums =
      buffers.output("sums", std::size_t{4} * static_cast<unsigned>(plan.blocks * plan.threads));

  const Expected expected =
      expect(instruction, plan.pattern, plan.warps(), static_cast<std::uint64_t>(plan.iterations));
  const std::uint32_t start = start_of(instruction.operation);
  Run run{memory.data, plan.pattern,           plan.iterations,         start,
          {},          times.as<BlockTimes>(), sums.as<std::uint32_t>()};
  std::ranges::copy(operand_of(instruction.operation, instruction.type), run.operand);
  const Blocks grid{plan.blocks, plan.threads,
                    l2 ? 0 : static_cast<int>(plan.pattern.window_bytes()),
                    instruction.level == Level::cluster ? cluster_size : 1};
  const auto nanoseconds = std::make_shared<std::vector<double>>();

  Workload workload;
  workload.launch = [=, kernel = find_kernel(instruction)] { launch(kernel, grid, stream, run); };
  workload.poison = [=, &buffers] {
    // Each word of `start` has four equal bytes. In shared memory the kernel itself begins with it.
    FATHOM_CUDA(cudaMemsetAsync(memory.data, static_cast<int>(l2 ? start & 0xFF : 0xA5),
                                memory.bytes, stream));
    buffers.poison(times);
    FATHOM_CUDA(cudaMemsetAsync(sums.data, 0, sums.bytes, stream));
  };
  workload.verify = [=, &context]() -> std::optional<std::string> {
    const auto count_wrong = [&](unsigned long long* wrong) {
      launch_count_wrong({memory.data, plan.windows(), plan.pattern, instruction.value_bytes(),
                          start, expected, wrong},
                         stream);
    };
    if (auto wrong = none_wrong(context, count_wrong,
                                fmt::format("of {} words hold another result than {} atomics leave",
                                            memory.bytes / 4, plan.operations() * plan.windows())))
      return wrong;
    if (instruction.returns) {
      const auto parts = copy_to_host<std::uint32_t>(sums, stream);
      const auto sum = std::accumulate(parts.begin(), parts.end(), 0u);
      const auto wanted = expected.sum_of_returns * static_cast<std::uint32_t>(plan.windows());
      if (sum != wanted)
        return fmt::format("what the atomics returned sums to {:#x} instead of {:#x}", sum, wanted);
    }
    const auto found = copy_to_host<BlockTimes>(times, stream);
    const auto missing = std::ranges::find_if(
        found,
        [](const BlockTimes& t) {
          return t.clock_end <= t.clock_begin || t.ns_end < t.ns_begin || t.ns_begin <= 0;
        });
    if (missing == found.end()) return std::nullopt;
    return fmt::format("block {} reported no times", missing - found.begin());
  };
  workload.read_sample = [=] {
    return take(*nanoseconds, plan, copy_to_host<BlockTimes>(times, stream));
  };
  if (l2) workload.sample_timer = "globaltimer";
  workload.extras = [=]() -> std::map<std::string, double> {
    if (nanoseconds->empty()) return {};
    return {{"ns_per_operation", median(*nanoseconds)}};
  };
  return workload;
}

/// Every lane has to be issued; and where each has a word of its own, its operand has to pass
/// through the SM's path to the L1 and shared memory, 32 banks of 4 bytes.
Bound bound_of(const DeviceFacts& device, const Plan& plan) {
  constexpr double bank_bytes = 128;
  const int value_bytes = plan.instruction.value_bytes();
  const Bound of_sm =
      plan.pattern.lane_bytes == 0
          ? Bound{models::issued_lanes_per_clock,
                  "four schedulers, one warp instruction a clock each"}
          : Bound{bank_bytes / value_bytes,
                  fmt::format("32 banks of 4 B a clock for operands of {} B", value_bytes)};
  if (plan.instruction.level != Level::l2) return of_sm;
  const int sms = std::min(device.sms, plan.blocks);
  return {of_sm.value * sms, fmt::format("{}, on {} SMs", of_sm.source, sms)};
}

std::vector<CounterRequest> counters_of(const Instruction& instruction) {
  if (instruction.level == Level::cluster) return {};
  if (instruction.level == Level::shared)
    return {{"shared_atomic_instructions"}, {"shared_atomic_wavefronts"}};
  const std::string form = instruction.returns ? "atomic" : "reduction";
  return {{"global_" + form + "_requests"},
          {"global_" + form + "_sectors"},
          {"l2_" + form + "_sectors"},
          {"l2_hit_rate"},
          {"dram_read_bytes"}};
}

Case make_case(const DeviceFacts& device, const Plan& plan, const char* sweep, const char* pattern,
               bool quick, bool counted, const Axes& more = {}) {
  const Instruction& instruction = plan.instruction;
  Case c;
  c.name = fmt::format("{}/{}/{}", sweep, pattern, instruction.ptx());
  c.axes = {{"sweep", sweep},
            {"level", name_of(instruction.level)},
            {"instruction", instruction.ptx()},
            {"operation", name_of(instruction.operation)},
            {"type", name_of(instruction.type)},
            {"form", instruction.form()},
            {"scope", name_of(instruction.scope)},
            {"pattern", pattern}};
  for (const auto& [name, value] : more) {
    c.axes.emplace_back(name, value);
    const auto* number = std::get_if<std::int64_t>(&value);
    c.name += number ? fmt::format("/{}:{}", name.substr(0, name.find(" (")), *number)
                     : "/" + std::get<std::string>(value);
  }
  std::ranges::replace(c.name, ' ', '-');
  c.suite = quick_if(quick);
  c.metric = {"throughput", instruction.level == Level::l2 ? "ops/clk" : "ops/clk/SM",
              Better::higher, std::nullopt};
  c.bound = bound_of(device, plan);
  c.precision = Precision{.relative_half_width = 0.005, .min_samples = 9, .time_limit_s = 0.05};
  if (counted) c.counters = counters_of(instruction);
  c.prepare = [plan](Context& context) { return prepare(context, plan); };
  return c;
}

// Atomics of each thread, for launches of some tenths of a millisecond: far longer than it takes
// the blocks to start. Those of one address are as few as can be, since they may take a clock each.
constexpr int many = 512, scattered = 64, in_shared = 1024, contended = 16, shared_contended = 64;

/// The whole GPU, every warp resident from the beginning to the end.
Plan whole_gpu(const DeviceFacts& device, const Instruction& instruction, int iterations) {
  constexpr int threads = 512;
  Plan plan{instruction, {}, device.sms, most_threads, iterations};
  if (instruction.level == Level::cluster) plan.blocks = device.sms / 2 * 2;
  if (instruction.level != Level::l2) return plan;
  plan.threads = threads;
  plan.blocks *= resident_blocks_of(find_kernel(instruction), threads);
  return plan;
}

/// The one that stands for all others where the question is another than the type.
bool is_plain_add(const Instruction& i) {
  return i.operation == Operation::add && i.type == Type::u32 && i.scope != Scope::sys &&
         (i.level != Level::l2 || i.scope == Scope::gpu);
}

void add_operation(std::vector<Case>& cases, const DeviceFacts& device, const Instruction& i) {
  Plan plan = whole_gpu(device, i, i.level == Level::shared ? in_shared : many);
  plan.pattern.slots = static_cast<std::uint32_t>(plan.warps());
  plan.pattern.lane_bytes = static_cast<std::uint32_t>(i.value_bytes());
  plan.pattern.slot_bytes = 32 * plan.pattern.lane_bytes;
  cases.push_back(make_case(device, plan, "operations", own_words, i.quick, is_plain_add(i)));
}

void add_same_address(std::vector<Case>& cases, const DeviceFacts& device, const Instruction& i) {
  // What the hardware lacks in shared memory the compiler makes a loop of compare and swap, which
  // takes far longer on one address.
  const bool is_loop = i.operation == Operation::add && i.type != Type::u32;
  const bool native = i.level == Level::shared && !is_loop;
  cases.push_back(make_case(device, whole_gpu(device, i, native ? shared_contended : contended),
                            "same address", one_address, is_plain_add(i), is_plain_add(i)));
}

void add_spreads(std::vector<Case>& cases, const DeviceFacts& device, const Instruction& i) {
  const auto add = [&](const char* name, Pattern pattern, int iterations) {
    Plan plan = whole_gpu(device, i, iterations);
    if (pattern.slots == 0) pattern.slots = static_cast<std::uint32_t>(plan.warps());
    plan.pattern = pattern;
    cases.push_back(make_case(device, plan, "spread", name, i.returns, true));
  };
  add(address_a_warp, {.slots = 0, .slot_bytes = 128},
      i.level == Level::l2 ? scattered : in_shared);
  add(one_line, {.slots = 1, .slot_bytes = 128, .lane_bytes = 4},
      i.level == Level::l2 ? contended : in_shared);
  if (i.level != Level::l2) return;
  const auto quarter = static_cast<std::uint32_t>(device.l2_bytes / 4);
  add(sector_a_lane, {.slots = quarter / 1024, .slot_bytes = 1024, .lane_bytes = 32}, scattered);
  add(line_a_lane, {.slots = quarter / 4096, .slot_bytes = 4096, .lane_bytes = 128}, scattered);
}

void add_working_sets(std::vector<Case>& cases, const DeviceFacts& device, const Instruction& i) {
  if (i.level != Level::l2) return;
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  const std::uint64_t l2 = device.l2_bytes;
  // The largest stays below 1 GiB, where 32 bits of offset would overflow in twice the window.
  const std::uint64_t largest = std::min(8 * l2, 960 * mib);
  for (const std::uint64_t bytes :
       {mib, 4 * mib, l2 / 4, l2 / 2, 3 * l2 / 4, l2, 2 * l2, largest}) {
    for (const bool lines : {true, false}) {
      Plan plan = whole_gpu(device, i, lines ? many : scattered);
      plan.pattern.lane_bytes = lines ? 4 : 32;
      plan.pattern.slot_bytes = 32 * plan.pattern.lane_bytes;
      plan.pattern.slots = static_cast<std::uint32_t>(bytes / plan.pattern.slot_bytes);
      const auto size = static_cast<std::int64_t>(plan.pattern.window_bytes());
      const bool headline = bytes == largest;
      cases.push_back(make_case(device, plan, "working set", lines ? sweeping_lines : sector_a_lane,
                                headline && i.returns, headline, {{"working set (B)", size}}));
    }
  }
}

/// How the cost of one address grows: with the lanes of a warp, the warps of a block and the SMs.
void add_contenders(std::vector<Case>& cases, const DeviceFacts& device, const Instruction& i) {
  if (!i.returns) return;
  // Four million on one address at most; of one warp enough for the clocks to tell.
  constexpr int most_operations = 1 << 22;
  const bool l2 = i.level == Level::l2;
  const int most_iterations = l2 ? 1024 : 8192;
  const auto add = [&](const char* kind, int count, Plan plan) {
    const auto contenders = static_cast<int>(plan.warps() * plan.pattern.active_lanes);
    plan.iterations =
        std::clamp(most_operations / contenders / unroll * unroll, contended, most_iterations);
    const bool end = count == 1 || count == 32 || count == device.sms;
    cases.push_back(make_case(device, plan, "contenders", one_address, end, false,
                              {{"contender", kind}, {"contenders", count}}));
  };
  Plan plan{i, {}, l2 ? 1 : device.sms, 32, contended};
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    plan.pattern.active_lanes = static_cast<std::uint32_t>(lanes);
    add("lanes of a warp", lanes, plan);
  }
  for (const int warps : {2, 4, 8, 16, 32}) {
    plan.threads = warps * 32;
    add("warps of an SM", warps, plan);
  }
  if (!l2) return;
  for (int sms = 2;; sms *= 2) {
    plan.blocks = std::min(sms, device.sms);
    add("SMs", plan.blocks, plan);
    if (sms >= device.sms) return;
  }
}

std::vector<Case> cases_of(const DeviceFacts& device) {
  std::vector<Case> cases;
  const auto add = [&](bool (*chosen)(const Instruction&), auto make) {
    for (const Instruction& i : all_instructions)
      if (i.since <= 10 * device.major + device.minor && chosen(i)) make(cases, device, i);
  };
  const auto plain = [](const Instruction& i) {
    return is_plain_add(i) && i.level != Level::cluster;
  };
  add([](const Instruction&) { return true; }, add_operation);
  add(asked_of_one_address, add_same_address);
  add(plain, add_spreads);
  add(plain, add_contenders);
  add(plain, add_working_sets);  // last: the largest take most of the memory that the probe uses
  return cases;
}

const Probe probe{
    .name = "atomics",
    .question =
        "How many atomics does each level complete in a clock, by operation, type, scope and "
        "spread of addresses, and what does it cost to share one?",
    .method =
        "Every thread repeats one instruction on the addresses of its pattern. In the L2 all warps "
        "that fit the GPU work at once, timed from the first block's begin to the last block's end "
        "by the global timer. In shared memory each SM's one block is timed by its own clock; the "
        "median SM counts. An atomic is one lane's: pairs and vectors count once. Every word of "
        "memory, and the sum of all that was returned, must be what as many operations one after "
        "the other leave. Compare and swap always finds what it compares with.",
    .conclude = conclude,
    .cases = {cases_of}};

}  // namespace
}  // namespace fathom::atomics

FATHOM_PROBE(fathom::atomics::probe)
