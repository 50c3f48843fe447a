#include "probes/memory_latency/cases.h"

namespace fathom::memory_latency {
namespace {

constexpr std::uint64_t line = 64;  ///< of the constant L1 (Jia et al., 2018, on Volta)

/// Puts the chain, whose base is 0, into constant memory; the words in device memory.
const std::uint32_t* fill_constants(Context& context, const Chain& chain) {
  const std::vector<std::uint32_t> words = index_image(chain, constant_bytes);
  const Buffer image = upload(context, "constants", std::as_bytes(std::span(words)));
  copy_to_constant_memory(image.as<std::uint32_t>(), context.stream());
  return image.as<std::uint32_t>();
}

/// `cold`: the constants are copied anew before each launch, so that no constant cache has them.
PrepareChase in_constants(bool cold = false) {
  return [=](Context& context, Chase& chase) -> LaunchChase {
    const std::uint32_t* words = fill_constants(context, chase.chain);
    return [=](const Chase& with_report, cudaStream_t stream) {
      if (cold) copy_to_constant_memory(words, stream);
      launch_constant_chase(with_report, stream);
    };
  };
}

/// Each launch brings the parameters anew.
LaunchChase in_parameters(Context&, Chase& chase) {
  return [words = parameter_words(chase.chain)](const Chase& with_report, cudaStream_t stream) {
    launch_parameter_chase(*words, with_report, stream);
  };
}

Chase constant_chase(std::size_t bytes, Timed timed) {
  const Chain chain = spread(bytes, line);
  return {.chain = chain,
          .loads = timed == Timed::mean ? 2048 : max_timed_loads,
          .walked_loads = static_cast<int>(chain.count),
          .timed = timed};
}

/// What is read but once: each load from another 256 bytes, so that none finds what a miss before
/// it brought along.
Chase first_use(std::size_t bytes, Timed timed) {
  const Chain chain = spread(bytes, 256);
  return {.chain = chain,
          .loads = static_cast<int>(chain.count) / chase_unroll * chase_unroll,
          .timed = timed};
}

void add_constants(std::vector<Case>& result) {
  for (const Timed timed : {Timed::mean, Timed::each}) {
    // Far within the 2 KiB of the first level and far beyond them (Jia et al., 2018).
    constexpr std::size_t within = 1024, beyond = 16 * kib;
    const Chase first = constant_chase(within, timed), second = constant_chase(beyond, timed);
    const auto add = [&](const char* level, const char* instruction, std::size_t bytes,
                         const Chase& chase, const PrepareChase& prepare) {
      result.push_back(headline(level, instruction, bytes, chase, prepare));
    };
    add("constant L1", "ld.const", within, first, in_constants());
    add("constant L1.5", "ld.const", beyond, second, in_constants());
    add("constant L2", "ld.const", constant_bytes, first_use(constant_bytes, timed),
        in_constants(true));
    add("parameters L1", "ld.param", within, first, in_parameters);
    add("parameters L1.5", "ld.param", beyond, second, in_parameters);
    add("parameters first use", "ld.param", parameter_bytes, first_use(parameter_bytes, timed),
        in_parameters);
  }
  const std::set<std::size_t> coarse = geometric(512, constant_bytes, 2, line);
  std::set<std::size_t> sizes = geometric(512, constant_bytes, 4, line);
  add_steps(sizes, 1536, 3072, 2 * line);
  add_steps(sizes, 24 * kib, constant_bytes, 2 * kib);
  for (const std::size_t size : sizes) {
    const bool fine = size >= 1536 && size <= 3072;
    Case& c = result.emplace_back(make_case("size", "constant", "ld.const", Timed::mean,
                                            {working_set_axis(size)},
                                            quick_if(fine || coarse.contains(size))));
    c.prepare = chase_workload(constant_chase(size, Timed::mean), in_constants());
  }
}

// Instruction caches, by straight-line code of growing length; and constants beside such code.
// Constant memory ends before the cache behind the first constant one does, but that cache holds
// code too: what both fill together goes beyond it.

std::function<Workload(Context&)> code_workload(std::size_t code, std::size_t constants) {
  const CodeRun run{.blocks = static_cast<int>(code / code_block_bytes),
                    .constants = spread(constants, line),
                    .rounds = 2};
  const int loads = static_cast<int>(run.constants.count), all = run.warm_rounds + run.rounds;
  const int counted = loads > 0 ? loads : (run.blocks - 1) * code_block_instructions;
  const int blocks = all * run.blocks + (run.blocks > 0 ? 2 : 0);  // executed
  return report_workload([=](Context& context) -> Reporting {
    fill_constants(context, run.constants);
    return {[=, stream = context.stream()](Report* report) {
              CodeRun with_report = run;
              with_report.report = report;
              launch(run_code_and_constants, {1, 1}, stream, with_report, 1.0f);
            },
            // Every round goes through the whole chain, and ends where it began.
            [=](std::uint64_t) {
              return loads > 0 ? follow(run.constants, 0, (all + 2) * loads) : ChaseEnd{};
            },
            Timed::mean, counted * run.rounds, false,
            std::uint64_t{static_cast<unsigned>(blocks)} * code_block_sums};
  });
}

void add_code(std::vector<Case>& result) {
  constexpr std::size_t most_code = std::size_t{most_code_blocks} * code_block_bytes;
  std::set<std::size_t> sizes = geometric(4 * kib, most_code, 2, code_block_bytes);
  add_steps(sizes, 12 * kib, 48 * kib, 2 * kib);
  add_steps(sizes, 48 * kib, 160 * kib, 4 * kib);
  for (const std::size_t size : sizes) {
    Case& c = result.emplace_back(make_case("code", "instruction caches", "fma.rn.f32", Timed::mean,
                                            {working_set_axis(size)}));
    c.metric.name = "issue interval";
    c.prepare = code_workload(size, 0);
  }
  for (const auto& [constants, step] :
       {std::pair{std::size_t{constant_bytes}, 4 * kib}, {std::size_t{16 * kib}, 8 * kib}}) {
    std::set<std::size_t> both{most_code / 2 + constants, most_code + constants};
    add_steps(both, constant_bytes, 176 * kib, step);
    for (const std::size_t size : both) {
      Case& c = result.emplace_back(make_case(
          "beside code", "constant", "ld.const", Timed::mean,
          {{"constants (B)", static_cast<std::int64_t>(constants)}, working_set_axis(size)}));
      c.prepare = code_workload(size - constants, constants);
    }
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
