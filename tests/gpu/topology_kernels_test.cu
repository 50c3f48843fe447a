// Every kernel of the topology probe, on little data.

#include "probes/device/launch.h"
#include "probes/topology/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::topology;

namespace {

struct LineMemory : test::Pool {
  static constexpr std::uint64_t stride = 64 * line_bytes;
  Buffer region = buffers.output("region", 37 * stride);
  Buffer report = buffers.output("report", sizeof(LineReport));

  /// Asks SM `smid` for its latencies.
  LineReport run(LineAccess access, std::uint32_t smid, LineTask& task) {
    buffers.poison(report);
    buffers.poison(region);
    task = {{region.data, 37, stride, 5}, 3, smid, report.as<LineReport>()};
    set(&task.report->taken, 0, sizeof(std::uint32_t));
    launch(write_lines, {1, 64}, stream.get(), task.lines);
    const int shared_bytes = static_cast<int>(facts.shared_bytes_per_block_max);
    const auto kernel = line_kernel(access);
    resident_blocks_with(kernel, latency_threads, shared_bytes);
    launch(kernel, {facts.sms, latency_threads, shared_bytes}, stream.get(), task, 0u);
    return read<LineReport>(report).front();
  }
};

}  // namespace

TEST_CASE("the SM that is asked reads each line", "[gpu][topology][sanitized]") {
  LineMemory memory;
  const auto last = static_cast<std::uint32_t>(memory.facts.sms) - 1;
  for (const LineAccess access : {LineAccess::load, LineAccess::atomic_add}) {
    for (const std::uint32_t smid : {0u, 3u, last}) {
      CAPTURE(static_cast<int>(access), smid);
      LineTask task;
      const LineReport report = memory.run(access, smid, task);
      CHECK(report.taken == 1);
      CHECK(report.smid == smid);
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < task.lines.count; ++i) sum += 3 * line_value(task.lines, i);
      CHECK(report.sum == sum);
      CHECK(report.clock_end > report.clock_begin);
      const std::uint32_t all = task.lines.count * 3;
      for (std::uint32_t i = 0; i < all; ++i) CHECK(report.times[i] < 1u << 30);
      CHECK(report.times[all] == 0xFFFFFFFFu);
      if (!test::under_sanitizer()) {
        CHECK(*std::min_element(report.times, report.times + all) >
              *std::min_element(report.empty, report.empty + empty_brackets));
        CHECK(*std::min_element(report.times, report.times + all) > 50);  // not from the L1
      }
      // Atomics have added nothing.
      const auto words = memory.read<std::uint32_t>(memory.region);
      for (std::uint32_t i = 0; i < task.lines.count; ++i) {
        CHECK(words[line_offset(task.lines, i) / 4] == line_value(task.lines, i));
      }
      memory.check_guards();
    }
  }
}

TEST_CASE("an SM that is not there keeps nobody waiting for ever", "[gpu][topology]") {
  LineMemory memory;
  LineTask task;
  const LineReport report =
      memory.run(LineAccess::load, static_cast<std::uint32_t>(memory.facts.sms) + 7, task);
  CHECK(report.taken == 0);
  CHECK(report.sum == 0xFFFFFFFFu);
}

TEST_CASE("blocks of a cluster say where they ran", "[gpu][topology][sanitized]") {
  test::Pool gpu;
  ClusterTask task;
  task.blocks = 240;
  task.shared_bytes = 16 * 1024;
  task.spread_clocks = 2000;
  if (gpu.facts.major < 9) {
    CHECK(most_active_clusters(gpu.facts.major, task) == 0);
    SKIP("clusters come with compute capability 9.0");
  }
  const Buffer buffer = gpu.buffers.output("placements", sizeof(Placement) * task.blocks);
  task.placements = buffer.as<Placement>();
  for (const int size : {2, 3, 8}) {
    CAPTURE(size);
    task.cluster_size = size;
    const int active = most_active_clusters(gpu.facts.major, task);
    CHECK((size == 3 || active > 0));
    if (active == 0) continue;
    gpu.buffers.poison(buffer);
    launch_clusters(task, gpu.stream.get());
    const auto placements = gpu.read<Placement>(buffer);
    for (int block = 0; block < task.blocks; ++block) {
      CHECK(placements[block].smid < static_cast<std::uint32_t>(gpu.facts.sms));
      CHECK(placements[block].cluster == static_cast<std::uint32_t>(block / size));
    }
    gpu.check_guards();
  }
  // None of a size that no GPU has.
  task.cluster_size = 64;
  task.blocks = 256;
  CHECK(most_active_clusters(gpu.facts.major, task) == 0);
}
