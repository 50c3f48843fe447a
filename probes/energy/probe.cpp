#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "harness/cases.h"
#include "probes/claims.h"
#include "probes/copy_bandwidth/kernels.h"
#include "probes/device/launch.h"
#include "probes/energy/kernels.h"
#include "probes/energy/loops.h"
#include "probes/instructions/workload.h"

namespace fathom::energy {
namespace {

/// Watts of the active idle, once its case has run, else NaN; what all loops are held against.
using Baseline = std::shared_ptr<double>;

/// The case of a loop whose launch does `work`, without `prepare` and counters.
Case loop_case(const char* kind, const char* id, const std::string& subject, const Per& per,
               bool quick, double work, const Baseline& baseline) {
  Case c;
  c.suite = quick_if(quick);
  c.name = fmt::format("{}/{}", kind, id);
  c.axes = {{"kind", kind}, {"id", id}, {"loop", subject}, {"per", per.axis}};
  c.metric = {"energy", per.unit, Better::lower, std::nullopt};
  c.mode = EnergyLoop{
      .work = work,
      .figures = [baseline](const EnergyReading& whole) -> std::map<std::string, double> {
        if (std::isnan(*baseline)) return {};
        const double base = *baseline * whole.seconds / whole.work;
        return {{base_extra, base}, {net_extra, (whole.joules / whole.work - base) * 1e12}};
      }};
  return c;
}

/// One launch: long against the gap to the next, short enough for the host to follow its chains.
constexpr double launch_clocks = 300'000;

std::vector<Case> instruction_cases(const DeviceFacts& device, const Baseline& baseline) {
  std::vector<Case> cases;
  for (const InstructionLoop& loop : instruction_loops) {
    const instructions::Instruction* best = nullptr;  // the first one that this GPU has
    for (const std::string_view id : loop.instructions)
      for (const auto& instruction : instructions::all_instructions())
        if (!best && instruction.id == id && instruction.runs_on(device.major, device.minor))
          best = &instruction;
    if (!best) continue;
    const instructions::Plan plan = throughput_plan(device, *best, launch_clocks);
    // A multiply-add is two operations.
    const double work = plan.steps() * plan.blocks * best->results * 2;
    Case c = loop_case("instruction", loop.id, best->subject, loop.per, loop.quick, work, baseline);
    c.prepare = [plan](Context& context) { return instructions::prepare(context, plan); };
    cases.push_back(std::move(c));
  }
  return cases;
}

// Loads, and stores, that each level answers again and again. Data are random bits throughout.

/// A launch of about a millisecond on an H200, so that the gaps between launches do not count.
constexpr int turns_inside_sm = 2000, turns_l2 = 500;

Case walk_case(const DeviceFacts& device, const MemoryLoop& loop, Level level, std::uint32_t chunks,
               int turns, const Baseline& baseline) {
  const int blocks = device.sms * walk_blocks_per_sm(level);
  const double bytes = static_cast<double>(chunk_bytes) * turns * blocks;
  Case c = loop_case("memory", loop.id, loop.subject, per_byte, loop.quick, bytes, baseline);
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const Buffer data = context.buffers().input("walked", chunks * chunk_bytes, Fill::random_bits);
    const Buffer sums = context.buffers().output("sums", blocks * sizeof(std::uint32_t));
    const Walk walk{data.data, chunks, turns, sums.as<std::uint32_t>()};
    const auto words = copy_to_host<std::uint32_t>(data, stream);
    std::vector<std::uint32_t> of_chunk(chunks);
    for (std::size_t i = 0; i < words.size(); ++i) of_chunk[i / (chunk_bytes / 4)] += words[i];
    const auto sum_of = [=](std::size_t block) {
      std::uint32_t sum = 0;
      for (int turn = 0; turn < turns; ++turn)
        sum += of_chunk[(block * chunk_spread + turn) % chunks];
      return sum;
    };
    return workload_of(
        context, {sums}, [=] { launch_walk(level, walk, blocks, stream); },
        [=] { return check_elements<std::uint32_t>(sums, stream, "the sum of block", sum_of); });
  };
  if (level != Level::shared) c.counters.push_back({"l1_hit_rate"});
  if (level == Level::l2) c.counters.push_back({"l2_hit_rate"});
  return c;
}

Case dram_case(const DeviceFacts& device, const MemoryLoop& loop, copy_bandwidth::Mix mix,
               const Baseline& baseline) {
  constexpr std::size_t unit = copy_bandwidth::read_bytes_per_fold * 8;
  // Far above any L2, so that nearly nothing of one launch is found there by the next.
  const std::size_t bytes = std::min(std::size_t{4} << 30, device.memory_bytes / 8 / unit * unit);
  const bool reads = mix == copy_bandwidth::Mix::read;
  Case c = loop_case("memory", loop.id, loop.subject, per_byte, loop.quick,
                     static_cast<double>(bytes), baseline);
  c.counters = {{reads ? "dram_read_bytes" : "dram_write_bytes"}, {"l2_hit_rate"}};
  c.prepare = [=](Context& context) {
    copy_bandwidth::MixRun run{.bytes = bytes};
    if (reads) run.a = context.buffers().input("src", bytes, Fill::random_bits).data;
    const Buffer out = context.buffers().output(
        reads ? "folds" : "dst", reads ? bytes / copy_bandwidth::read_bytes_per_fold * 4 : bytes);
    run.out = out.data;
    const auto run_or_check = [=, stream = context.stream()](unsigned long long* wrong) {
      // The type means nothing to these two.
      launch_mix(mix, copy_bandwidth::ElementType::float32, run, wrong, stream);
    };
    return workload_of(
        context, {out}, [=] { run_or_check(nullptr); },
        [=, &context] {
          return none_wrong(context, run_or_check, "elements of the output are wrong");
        });
  };
  return c;
}

std::vector<Case> memory_cases(const DeviceFacts& device, const Baseline& baseline) {
  const auto& [shared, l1, l2, dram, dram_write] = memory_loops;
  // A power of two within a quarter of the L2, or half of a partition: all SMs find it there.
  const std::size_t quarter = std::max<std::size_t>(device.l2_bytes / 4, 2 * chunk_bytes);
  const auto l2_chunks = static_cast<std::uint32_t>(std::bit_floor(quarter / chunk_bytes));
  return {walk_case(device, shared, Level::shared, shared_chunks, turns_inside_sm, baseline),
          walk_case(device, l1, Level::l1, 2, turns_inside_sm, baseline),
          walk_case(device, l2, Level::l2, l2_chunks, turns_l2, baseline),
          dram_case(device, dram, copy_bandwidth::Mix::read, baseline),
          dram_case(device, dram_write, copy_bandwidth::Mix::write, baseline)};
}

constexpr int rest_turns = 200;  ///< about 4 ms

Workload rest_workload(Context& context) {
  cudaStream_t stream = context.stream();
  const Blocks grid{context.device().sms, rest_threads};
  const Buffer out = context.buffers().output(
      "rested", std::size_t{rest_threads} * grid.blocks * sizeof(std::uint32_t));
  return workload_of(
      context, {out}, [=] { launch(rest, grid, stream, rest_turns, out.as<std::uint32_t>()); },
      [=] {
        return check_elements<std::uint32_t>(out, stream, "the count of thread",
                                             [](std::size_t) { return rest_turns; });
      });
}

std::vector<Case> rest_cases(const DeviceFacts&, const Baseline& baseline) {
  std::vector<Case> cases;
  for (const bool active : {false, true}) {
    Case& c = cases.emplace_back(loop_case("rest", active ? active_idle_id : idle_id,
                                           active ? "resident threads sleep" : "nothing runs",
                                           {"second", "W", ""}, true, 0, baseline));
    c.metric.name = "power";
    c.prepare = [=](Context& context) { return active ? rest_workload(context) : Workload{}; };
    const auto keep = [=](const EnergyReading& whole) -> std::map<std::string, double> {
      *baseline = whole.watts();
      return {};
    };
    // What ran before, if only the driver's own start, still shows in the idle power for a while.
    c.mode = active ? EnergyLoop{.figures = keep} : EnergyLoop{.settle_s = 1, .figures = {}};
  }
  return cases;
}

std::vector<Case> cases(const DeviceFacts& device) {
  const auto baseline = std::make_shared<double>(std::nan(""));
  std::vector<Case> result;
  for (const auto part : {rest_cases, memory_cases, instruction_cases})
    for (Case& c : part(device, baseline)) result.push_back(std::move(c));
  return result;
}

const Probe probe{
    .name = "energy",
    .question =
        "How much energy does a byte take from each level of the memory hierarchy, and an "
        "operation in each kind of arithmetic?",
    .method =
        "Each loop runs for more than a second without a gap. The GPU's energy counter (NVML) "
        "moves about every 100 ms; its steps are noted as they come, the time from the first one "
        "after the clocks have settled to the last one is cut at steps into up to four windows, "
        "and each window's joules go over the work that was done in it, by events on the GPU's own "
        "clock. Energies without \"gross\" are less what the same GPU takes in the same time with "
        "threads that only sleep (active idle), so that they are the work's own; where the power "
        "limit lowers the clock, less is due to leakage and clock than is taken off. Loads and "
        "stores move random bits and are checked, each 16 bytes with two integer additions; "
        "instructions are those of the throughput kernels of probe_instructions, checked as there, "
        "on numbers with random mantissas; the factors of FFMA, DFMA and HFMA2 are few. The tensor "
        "cores are checked on whole numbers before and after, and measured on matrices of random "
        "signs and mantissas (int8: random bits). A multiply-add counts as two.",
    .conclude = conclude,
    .cases = {cases}};

}  // namespace
}  // namespace fathom::energy

FATHOM_PROBE(fathom::energy::probe)
