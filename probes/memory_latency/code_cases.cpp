#include <fmt/format.h>

#include <algorithm>

#include "harness/cuda_check.h"
#include "probes/memory_latency/cases.h"
#include "probes/memory_latency/code_blocks.cuh"
#include "probes/memory_latency/index_image.h"

// Instruction caches, by straight-line code of growing length; and constants beside code, which share a
// cache wherever the one throws the other out.

namespace fathom::memory_latency {
namespace {

constexpr std::uint64_t line = 64;  ///< of the constant L1, see constant_cases.cpp
constexpr int rounds = 2;

std::uint32_t sum_of(const Chain& chain) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < chain.count; ++i) {
    sum += static_cast<std::uint32_t>(address_of(chain, i));
  }
  return sum;
}

std::optional<std::string> check(const Report& report, const CodeRun& run) {
  const auto all = static_cast<std::uint32_t>(run.warm_rounds + run.rounds);
  const std::uint64_t executed =
      std::uint64_t{all} * static_cast<std::uint64_t>(run.blocks) * code_block_sums;
  if (report.executed != executed) {
    return fmt::format("the code added {} times instead of {}", report.executed, executed);
  }
  const std::uint32_t sum = all * (sum_of(run.constants) + sum_of(run.parameters));
  if (report.sum != sum) {
    return fmt::format("the addresses visited sum to {:#x} instead of {:#x}", report.sum, sum);
  }
  // Every round ends where it began.
  const std::uint64_t end = start_of(run.constants) + start_of(run.parameters);
  if (report.end != end) {
    return fmt::format("the chases ended at {:#x} in sum instead of {:#x}", report.end, end);
  }
  if (report.clocks <= 0 || report.clock_end <= report.clock_begin) {
    return "the run reported no clocks";
  }
  return std::nullopt;
}

std::function<Workload(Context&)> workload(const CodeRun& wanted) {
  const auto readings = std::make_shared<Readings>();
  return [=](Context& context) {
    cudaStream_t stream = context.stream();
    const Buffer image = context.buffers().output("constants", constant_bytes);
    const Buffer report = report_buffer(context);
    const std::vector<std::uint32_t> words = index_image(wanted.constants, constant_bytes);
    FATHOM_CUDA(
        cudaMemcpyAsync(image.data, words.data(), constant_bytes, cudaMemcpyHostToDevice, stream));
    FATHOM_CUDA(cudaStreamSynchronize(stream));
    copy_to_constant_memory(image.as<std::uint32_t>(), stream);
    const std::shared_ptr<const ParameterWords> parameters = parameter_words(wanted.parameters);
    CodeRun run = wanted;
    run.report = report.as<Report>();
    const std::uint32_t loads = run.constants.count + run.parameters.count;
    const std::uint32_t counted =
        loads > 0 ? loads : static_cast<std::uint32_t>(run.blocks) * code_block_instructions;
    Workload w;
    w.launch = [=] { launch_code_and_constants(*parameters, run, stream); };
    w.poison = [=, &context] { context.buffers().poison(report); };
    w.verify = [=] { return check(copy_to_host<Report>(report, stream).front(), run); };
    w.read_sample = [=] {
      return readings->take(copy_to_host<Report>(report, stream).front(), Timed::mean,
                            static_cast<int>(counted) * run.rounds);
    };
    w.extras = [=] { return readings->extras(); };
    return w;
  };
}

CodeRun run_of(std::size_t code, std::size_t constants, std::size_t parameters) {
  CodeRun run;
  run.blocks = static_cast<int>(code / code_block_bytes);
  run.constants = {.count = static_cast<std::uint32_t>(constants / line), .stride = line};
  run.parameters = {.count = static_cast<std::uint32_t>(parameters / line), .stride = line};
  run.rounds = rounds;
  return run;
}

Case code_case(std::size_t bytes) {
  Case c = make_case({"size",
                      "instruction caches",
                      "fma.rn.f32",
                      Timed::mean,
                      {{"working set (B)", static_cast<std::int64_t>(bytes)}}});
  c.metric.name = "cycles per instruction";
  c.prepare = workload(run_of(bytes, 0, 0));
  return c;
}

Case beside_case(std::size_t code, std::size_t constants, std::size_t parameters) {
  Case c = make_case({"beside code",
                      "constant",
                      "ld.const",
                      Timed::mean,
                      {{"constants (B)", static_cast<std::int64_t>(constants)},
                       {"parameters (B)", static_cast<std::int64_t>(parameters)},
                       {"code (B)", static_cast<std::int64_t>(code)}}});
  c.prepare = workload(run_of(code, constants, parameters));
  return c;
}

}  // namespace

std::vector<Case> code_cases(const DeviceFacts&) {
  constexpr std::size_t most = std::size_t{most_code_blocks} * code_block_bytes;
  std::vector<Case> result;
  std::vector<std::size_t> sizes = geometric(2048, most, 4, code_block_bytes);
  for (std::size_t size = 16 * 1024; size <= 160 * 1024; size += 4 * 1024) sizes.push_back(size);
  sort_unique(sizes);
  for (const std::size_t size : sizes) result.push_back(code_case(size));
  for (const std::size_t constants : {16 * 1024, 64 * 1024}) {
    for (std::size_t code = 0; code <= 192 * 1024; code += 8 * 1024) {
      result.push_back(beside_case(code, constants, 0));
    }
  }
  for (std::size_t code = 0; code <= 96 * 1024; code += 8 * 1024) {
    result.push_back(beside_case(code, constant_bytes, parameter_bytes));
  }
  return result;
}

}  // namespace fathom::memory_latency
