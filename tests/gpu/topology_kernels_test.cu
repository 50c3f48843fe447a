// Every kernel of the topology probe, on little data.

#include "probes/device/launch.h"
#include "probes/topology/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::topology;

namespace {

struct OnePerSm : test::Pool {
  int shared_bytes = static_cast<int>(facts.shared_bytes_per_block_max);

  template <class Task>
  void run(void (*kernel)(Task, std::uint32_t), int threads, const Task& task) {
    resident_blocks_with(kernel, threads, shared_bytes);
    launch(kernel, {facts.sms, threads, shared_bytes}, stream.get(), task, 0u);
  }
};

struct LineMemory : OnePerSm {
  static constexpr std::uint64_t stride = 64 * line_bytes;
  Buffer region = buffers.output("region", 37 * stride);
  Buffer report = buffers.output("report", sizeof(LineReport));

  /// Asks SM `smid` for its latencies.
  LineReport run(LineAccess access, std::uint32_t smid, LineTask& task) {
    buffers.poison(report);
    buffers.poison(region);
    task = {{region.data, 37, stride, 5}, 3, smid, report.as<LineReport>()};
    set(&task.report->taken, 0, sizeof(std::uint32_t));
    launch(write_lines, {1, 64}, queue(), task.lines);
    OnePerSm::run(line_kernel(access), latency_threads, task);
    return read<LineReport>(report).front();
  }

  cudaStream_t queue() const { return stream.get(); }
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

TEST_CASE("each partner has its turn beside the victim", "[gpu][topology][sanitized]") {
  OnePerSm gpu;
  cudaStream_t stream = gpu.stream.get();
  constexpr std::uint32_t slice = contention_threads * 64;
  const auto sms = static_cast<std::uint32_t>(gpu.facts.sms);
  const Buffer region = gpu.buffers.output("region", std::size_t{slice} * sms);
  const Buffer buffer = gpu.buffers.output("report", sizeof(ContentionReport));
  for (const Traffic traffic : {Traffic::load, Traffic::store}) {
    // The victim among the partners and beyond them.
    for (const std::uint32_t victim : {1u, sms - 1}) {
      CAPTURE(static_cast<int>(traffic), victim);
      const ContentionTask task{region.data,       slice,  2,
                                std::min(sms, 5u), victim, buffer.as<ContentionReport>()};
      gpu.buffers.poison(buffer);
      gpu.buffers.poison(region);
      if (traffic == Traffic::load)
        launch(write_slices, {gpu.facts.sms, contention_threads}, stream, task);
      gpu.set(&task.report->turn, 0, sizeof(Turn));
      gpu.run(contention_kernel(traffic), contention_threads, task);
      const auto report = gpu.read<ContentionReport>(buffer).front();
      CHECK(report.turn.failed == 0);
      CHECK(report.turn.step == turn_end);
      CHECK(report.turn.done == task.partners);
      CHECK(report.turn.ready == 0);
      CHECK(report.clock_end > report.clock_begin);
      for (std::uint32_t i = 0; i < task.partners; ++i) CHECK(report.clocks[i] > 0);
      CHECK(report.clocks[task.partners] == -1);

      const auto words = copy_to_host<std::uint32_t>(region, stream);
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < slice / 16; ++i) {
        sum += 4 * stored_value(victim, i) * task.passes * task.partners;
      }
      CHECK(report.sum == (traffic == Traffic::load ? sum : 0));
      for (std::uint32_t sm = 0; sm < sms; ++sm) {
        const bool written = traffic == Traffic::load || sm == victim || sm < task.partners;
        std::uint32_t wrong = 0;
        for (std::uint32_t i = 0; i < slice / 4; ++i) {
          const std::uint32_t expected = written ? stored_value(sm, i / 4) : 0xFFFFFFFFu;
          wrong += words[std::size_t{sm} * slice / 4 + i] != expected;
        }
        CAPTURE(sm);
        CHECK(wrong == 0);
      }
      gpu.check_guards();
    }
  }
}

TEST_CASE("a partner that is not there ends the turns", "[gpu][topology]") {
  OnePerSm gpu;
  const auto sms = static_cast<std::uint32_t>(gpu.facts.sms);
  constexpr std::uint32_t slice = contention_threads * 64;
  const Buffer region = gpu.buffers.output("region", std::size_t{slice} * sms);
  const Buffer buffer = gpu.poisoned("report", sizeof(ContentionReport));
  const ContentionTask task{region.data, slice, 1, sms + 1, 0, buffer.as<ContentionReport>()};
  gpu.set(&task.report->turn, 0, sizeof(Turn));
  gpu.run(contention_kernel(Traffic::store), contention_threads, task);
  const auto report = gpu.read<ContentionReport>(buffer).front();
  CHECK(report.turn.failed == sms + 1);
  CHECK(report.turn.step == turn_end);
}

TEST_CASE("blocks of a cluster say where they ran", "[gpu][topology][sanitized]") {
  OnePerSm gpu;
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
  // Blocks that stay, of which an SM holds one: the first wave takes each SM once.
  task.cluster_size = 2;
  task.blocks = 16;
  task.shared_bytes = gpu.shared_bytes;
  task.shortest_clocks = 50'000;
  task.spread_clocks = 1;
  gpu.buffers.poison(buffer);
  launch_clusters(task, gpu.stream.get());
  auto wave = gpu.read<Placement>(buffer);
  wave.resize(16);
  std::ranges::sort(wave, {}, &Placement::smid);
  if (!test::under_sanitizer()) {
    CHECK(std::ranges::adjacent_find(wave, {}, &Placement::smid) == wave.end());
  }
  // None of a size that no GPU has.
  task.cluster_size = 64;
  task.blocks = 256;
  CHECK(most_active_clusters(gpu.facts.major, task) == 0);
}
