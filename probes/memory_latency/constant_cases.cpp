#include <fmt/format.h>

#include <algorithm>

#include "probes/memory_latency/cases.h"

namespace fathom::memory_latency {
namespace {

constexpr std::uint64_t line = 64;  ///< of the constant L1 (Jia et al., 2018, on Volta)
constexpr int curve_loads = 2048;

/// Puts the chain, whose base is 0, into constant memory; the words in device memory.
const std::uint32_t* fill_constants(Context& context, const Chain& chain) {
  const std::vector<std::uint32_t> words = index_image(chain, constant_bytes);
  const Buffer image = upload(context, "constants", std::as_bytes(std::span(words)));
  copy_to_constant_memory(image.as<std::uint32_t>(), context.stream());
  return image.as<std::uint32_t>();
}

/// `cold`: the constants are copied anew before each launch, so that no constant cache has them.
std::function<Workload(Context&)> constant_workload(const Chase& wanted, bool cold) {
  return chase_workload(
      wanted,
      [=](Context& context, Chase& chase) -> LaunchChase {
        const std::uint32_t* words = fill_constants(context, chase.chain);
        return [=](const Chase& with_report, cudaStream_t stream) {
          if (cold) copy_to_constant_memory(words, stream);
          launch(constant_chase(with_report.timed), {1, 1}, stream, with_report);
        };
      });
}

Chase constant_chase(std::size_t bytes, std::uint64_t stride, Timed timed) {
  const auto count = static_cast<std::uint32_t>(bytes / stride);
  return {.chain = {.count = count, .stride = stride},
          .loads = timed == Timed::mean ? curve_loads : max_timed_loads,
          .walked_loads = static_cast<int>(count),
          .timed = timed};
}

/// What is read but once: each load from another 256 bytes, so that none finds what a miss before
/// it brought along.
Chase first_use(std::size_t bytes, Timed timed) {
  Chase chase = constant_chase(bytes, 256, timed);
  chase.walked_loads = 0;
  chase.loads = static_cast<int>(chase.chain.count) / chase_unroll * chase_unroll;
  return chase;
}

Case size_case(std::size_t bytes, bool quick) {
  Case c = make_case("size", "constant", "ld.const", Timed::mean, {working_set_axis(bytes)},
                     quick_if(quick));
  c.prepare = constant_workload(constant_chase(bytes, line, Timed::mean), false);
  return c;
}

Case level_case(const char* level, std::size_t bytes, const Chase& chase, bool cold = false) {
  Case c = headline(level, "ld.const", chase.timed, bytes);
  c.prepare = constant_workload(chase, cold);
  return c;
}

/// Each launch brings the parameters anew.
Case parameter_case(const char* level, std::size_t bytes, const Chase& chase) {
  Case c = headline(level, "ld.param", chase.timed, bytes);
  const LaunchChase launch_it = [words = parameter_words(chase.chain)](const Chase& with_report,
                                                                       cudaStream_t stream) {
    launch(parameter_chase(with_report.timed), {1, 1}, stream, *words, with_report);
  };
  c.prepare = chase_workload(chase, [=](Context&, Chase&) { return launch_it; });
  return c;
}

void add_constants(std::vector<Case>& result) {
  for (const Timed timed : {Timed::mean, Timed::each}) {
    // Far within the 2 KiB of the first level and far beyond them (Jia et al., 2018).
    constexpr std::size_t within = 1024, beyond = 16 * kib;
    const Chase first = constant_chase(within, line, timed),
                second = constant_chase(beyond, line, timed);
    result.push_back(level_case("constant L1", within, first));
    result.push_back(level_case("constant L1.5", beyond, second));
    result.push_back(
        level_case("constant L2", constant_bytes, first_use(constant_bytes, timed), true));
    result.push_back(parameter_case("parameters L1", within, first));
    result.push_back(parameter_case("parameters L1.5", beyond, second));
    result.push_back(
        parameter_case("parameters first use", parameter_bytes, first_use(parameter_bytes, timed)));
  }
  const std::set<std::size_t> coarse = geometric(512, constant_bytes, 2, line);
  std::set<std::size_t> sizes = geometric(512, constant_bytes, 4, line);
  add_steps(sizes, 1536, 3072, 2 * line);
  add_steps(sizes, 24 * kib, constant_bytes, 2 * kib);
  for (const std::size_t size : sizes) {
    const bool fine = size >= 1536 && size <= 3072;
    result.push_back(size_case(size, fine || coarse.contains(size)));
  }
}

// Instruction caches, by straight-line code of growing length; and constants beside such code.
// Constant memory ends before the cache behind the first constant one does, but that cache holds
// code too: what both fill together goes beyond it.

constexpr std::size_t most_code = std::size_t{most_code_blocks} * code_block_bytes;

std::optional<std::string> check(const Report& report, const CodeRun& run) {
  const auto all = static_cast<std::uint32_t>(run.warm_rounds + run.rounds);
  const std::uint64_t blocks = std::uint64_t{all} * static_cast<std::uint64_t>(run.blocks);
  const std::uint64_t executed = (blocks + (run.blocks > 0 ? 2 : 0)) * code_block_sums;
  if (report.executed != executed)
    return fmt::format("the code added {} times instead of {}", report.executed, executed);
  // Every round goes through the whole chain, and ends where it began.
  const int loads = static_cast<int>((all + 2) * run.constants.count);
  if (report.clocks <= 0) return "the run reported no clocks";
  return check_end(report, loads > 0 ? follow(run.constants, 0, loads) : ChaseEnd{});
}

std::function<Workload(Context&)> workload(const CodeRun& run) {
  const int loads = static_cast<int>(run.constants.count);
  const int counted = loads > 0 ? loads : (run.blocks - 1) * code_block_instructions;
  return report_workload([=](Context& context) -> Reporting {
    fill_constants(context, run.constants);
    return {[=, stream = context.stream()](Report* report) {
              CodeRun with_report = run;
              with_report.report = report;
              launch(run_code_and_constants, {1, 1}, stream, with_report, 1.0f);
            },
            [=](const Report& report) { return check(report, run); }, Timed::mean,
            counted * run.rounds};
  });
}

CodeRun run_of(std::size_t code, std::size_t constants) {
  return {.blocks = static_cast<int>(code / code_block_bytes),
          .constants = {.count = static_cast<std::uint32_t>(constants / line), .stride = line},
          .rounds = 2};
}

Case code_case(std::size_t bytes) {
  Case c =
      make_case("code", "instruction caches", "fma.rn.f32", Timed::mean, {working_set_axis(bytes)});
  c.metric.name = "issue interval";
  c.prepare = workload(run_of(bytes, 0));
  return c;
}

Case beside_case(std::size_t constants, std::size_t both) {
  Case c =
      make_case("beside code", "constant", "ld.const", Timed::mean,
                {{"constants (B)", static_cast<std::int64_t>(constants)}, working_set_axis(both)});
  c.prepare = workload(run_of(both - constants, constants));
  return c;
}

void add_code(std::vector<Case>& result) {
  std::set<std::size_t> sizes = geometric(4 * kib, most_code, 2, code_block_bytes);
  add_steps(sizes, 12 * kib, 48 * kib, 2 * kib);
  add_steps(sizes, 48 * kib, 160 * kib, 4 * kib);
  for (const std::size_t size : sizes) result.push_back(code_case(size));
  for (const auto& [constants, step] :
       {std::pair{std::size_t{constant_bytes}, 4 * kib}, {std::size_t{16 * kib}, 8 * kib}}) {
    std::set<std::size_t> both{most_code / 2 + constants, most_code + constants};
    add_steps(both, constant_bytes, 176 * kib, step);
    for (const std::size_t size : both) result.push_back(beside_case(constants, size));
  }
}

}  // namespace

std::vector<Case> constant_cases(const DeviceFacts&) {
  std::vector<Case> result;
  add_constants(result);
  add_code(result);
  return result;
}

}  // namespace fathom::memory_latency
