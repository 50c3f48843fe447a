#include <algorithm>

#include "harness/cuda_check.h"
#include "probes/memory_latency/cases.h"
#include "probes/memory_latency/index_image.h"

namespace fathom::memory_latency {
namespace {

constexpr std::uint64_t line = 64;  ///< of the constant L1 (Jia et al., 2018, on Volta)
constexpr int curve_loads = 2048;

/// `cold`: the constants are copied anew before each launch, so that no constant cache has them.
std::function<Workload(Context&)> constant_workload(const Chase& wanted, bool cold) {
  const auto readings = std::make_shared<Readings>();
  return [=](Context& context) {
    const std::uint32_t* words = fill_constants(context, wanted.chain);
    return chase_workload(context, wanted, false, readings,
                          [=](const Chase& chase, cudaStream_t stream) {
                            if (cold) copy_to_constant_memory(words, stream);
                            launch_constant_chase(chase, stream);
                          });
  };
}

Chase constant_chase(std::size_t bytes, std::uint64_t stride, Timed timed) {
  Chase chase;
  chase.chain = {.count = static_cast<std::uint32_t>(bytes / stride), .stride = stride};
  chase.walked_loads = static_cast<int>(chase.chain.count);
  chase.timed = timed;
  chase.loads = timed == Timed::mean ? curve_loads : max_timed_loads;
  return chase;
}

Case size_case(std::size_t bytes, bool quick) {
  Case c = make_case({"size",
                      "constant",
                      "ld.const",
                      Timed::mean,
                      {{"working set (B)", static_cast<std::int64_t>(bytes)}},
                      quick_if(quick)});
  c.prepare = constant_workload(constant_chase(bytes, line, Timed::mean), false);
  return c;
}

Case level_case(const char* level, std::size_t bytes, Timed timed) {
  Case c = headline(level, "ld.const", timed, bytes);
  c.prepare = constant_workload(constant_chase(bytes, line, timed), false);
  return c;
}

/// `first`: what a kernel pays that reads its parameters but once. Each launch brings them anew,
/// and each load is from another 256 bytes.
Case parameter_case(const char* level, std::size_t bytes, bool first, Timed timed) {
  Case c = headline(level, "ld.param", timed, bytes);
  Chase chase = constant_chase(bytes, first ? 256 : line, timed);
  if (first) {
    chase.walked_loads = 0;
    chase.loads = static_cast<int>(chase.chain.count) / chase_unroll * chase_unroll;
  }
  c.prepare = chase_workload(
      chase, false,
      [words = parameter_words(chase.chain)](const Chase& with_report, cudaStream_t stream) {
        launch_parameter_chase(*words, with_report, stream);
      });
  return c;
}

/// Each load from another 256 bytes, so that none finds what a miss before it brought along.
Case cold_case(Timed timed) {
  Case c = headline("constant L2", "ld.const", timed, constant_bytes);
  Chase chase = constant_chase(constant_bytes, 256, timed);
  chase.walked_loads = 0;
  chase.loads = static_cast<int>(chase.chain.count);
  c.prepare = constant_workload(chase, true);
  return c;
}

}  // namespace

std::vector<Case> constant_cases(const DeviceFacts&) {
  std::vector<Case> result;
  for (const Timed timed : {Timed::mean, Timed::each}) {
    // Far within the 2 KiB of the first level and far beyond them (Jia et al., 2018).
    result.push_back(level_case("constant L1", 1024, timed));
    result.push_back(level_case("constant L1.5", 16 * 1024, timed));
    result.push_back(cold_case(timed));
    result.push_back(parameter_case("parameters L1", 1024, false, timed));
    result.push_back(parameter_case("parameters L1.5", 16 * 1024, false, timed));
    result.push_back(parameter_case("parameters first use", parameter_bytes, true, timed));
  }
  const std::vector<std::size_t> coarse = geometric(512, constant_bytes, 2, line);
  std::vector<std::size_t> sizes = geometric(512, constant_bytes, 4, line);
  for (std::size_t size = 1536; size <= 3072; size += 2 * line) sizes.push_back(size);
  for (std::size_t size = 24 * 1024; size <= constant_bytes; size += 2048) sizes.push_back(size);
  sort_unique(sizes);
  for (const std::size_t size : sizes) {
    const bool fine = size >= 1536 && size <= 3072;
    result.push_back(size_case(size, fine || std::ranges::find(coarse, size) != coarse.end()));
  }
  return result;
}

}  // namespace fathom::memory_latency
