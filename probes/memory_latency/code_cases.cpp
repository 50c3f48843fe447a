#include <fmt/format.h>

#include "harness/cuda_check.h"
#include "probes/memory_latency/cases.h"

// Instruction caches, by straight-line code of growing length; and constants beside such code.
// Constant memory ends before the cache behind the first constant one does, but that cache holds
// code too: what both fill together goes beyond it.

namespace fathom::memory_latency {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::uint64_t line = 64;  ///< of the constant L1, see constant_cases.cpp
constexpr std::size_t most_code = std::size_t{most_code_blocks} * code_block_bytes;

std::optional<std::string> check(const Report& report, const CodeRun& run) {
  const auto all = static_cast<std::uint32_t>(run.warm_rounds + run.rounds);
  const std::uint64_t blocks = std::uint64_t{all} * static_cast<std::uint64_t>(run.blocks);
  const std::uint64_t executed = (blocks + (run.blocks > 0 ? 2 : 0)) * code_block_sums;
  if (report.executed != executed)
    return fmt::format("the code added {} times instead of {}", report.executed, executed);
  // Every round goes through the whole chain, and ends where it began.
  const int loads = static_cast<int>((all + 2) * run.constants.count);
  const ChaseEnd expected = loads > 0 ? follow(run.constants, 0, loads) : ChaseEnd{};
  if (report.sum != expected.sum || report.end != expected.address) {
    return fmt::format("the chase ended at {:#x} instead of {:#x}, or not by the addresses wanted",
                       report.end, expected.address);
  }
  if (report.clocks <= 0 || report.clock_end <= report.clock_begin)
    return "the run reported no clocks";
  return std::nullopt;
}

std::function<Workload(Context&)> workload(const CodeRun& wanted) {
  const auto readings = std::make_shared<Readings>();
  return [=](Context& context) {
    cudaStream_t stream = context.stream();
    fill_constants(context, wanted.constants);
    const Buffer report = report_buffer(context);
    CodeRun run = wanted;
    run.report = report.as<Report>();
    const int loads = static_cast<int>(run.constants.count);
    const int counted = loads > 0 ? loads : (run.blocks - 1) * code_block_instructions;
    Workload w;
    w.launch = [=] { launch_code_and_constants(run, stream); };
    w.poison = poisoning(context, {report});
    w.verify = [=] { return check(read_report(report, stream), run); };
    w.read_sample = [=] {
      return readings->take(read_report(report, stream), Timed::mean, counted * run.rounds);
    };
    w.extras = [=] { return readings->extras(); };
    return w;
  };
}

CodeRun run_of(std::size_t code, std::size_t constants) {
  CodeRun run;
  run.blocks = static_cast<int>(code / code_block_bytes);
  run.constants = {.count = static_cast<std::uint32_t>(constants / line), .stride = line};
  run.rounds = 2;
  return run;
}

Case code_case(std::size_t bytes) {
  Case c = make_case(
      {"code", "instruction caches", "fma.rn.f32", Timed::mean, {working_set_axis(bytes)}});
  c.metric.name = "issue interval";
  c.prepare = workload(run_of(bytes, 0));
  return c;
}

Case beside_case(std::size_t constants, std::size_t both) {
  Case c = make_case(
      {"beside code",
       "constant",
       "ld.const",
       Timed::mean,
       {{"constants (B)", static_cast<std::int64_t>(constants)}, working_set_axis(both)}});
  c.prepare = workload(run_of(both - constants, constants));
  return c;
}

void add_steps(std::vector<std::size_t>& sizes, std::size_t low, std::size_t high,
               std::size_t step) {
  for (std::size_t size = low; size <= high; size += step) sizes.push_back(size);
}

}  // namespace

std::vector<Case> code_cases(const DeviceFacts&) {
  std::vector<Case> result;
  std::vector<std::size_t> sizes = geometric(4 * kib, most_code, 2, code_block_bytes);
  add_steps(sizes, 12 * kib, 48 * kib, 2 * kib);
  add_steps(sizes, 48 * kib, 160 * kib, 4 * kib);
  sort_unique(sizes);
  for (const std::size_t size : sizes) result.push_back(code_case(size));
  for (const auto& [constants, step] :
       {std::pair{std::size_t{constant_bytes}, 4 * kib}, {std::size_t{16 * kib}, 8 * kib}}) {
    std::vector<std::size_t> both{most_code / 2 + constants, most_code + constants};
    add_steps(both, constant_bytes, 176 * kib, step);
    sort_unique(both);
    for (const std::size_t size : both) result.push_back(beside_case(constants, size));
  }
  return result;
}

}  // namespace fathom::memory_latency
