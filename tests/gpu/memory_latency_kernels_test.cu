// Every kernel of the memory-latency probe: short chases through little memory.

#include "probes/memory_latency/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::memory_latency;

namespace {

constexpr int loads = 64;
constexpr std::uint32_t count = 37;  // the chase goes round, and ends nowhere near its start

struct Memory : test::Pool {
  Buffer data = buffers.output("data", constant_bytes);
  Buffer report = buffers.output("report", sizeof(Report));

  Memory() { set(data, 0x5A); }

  void put_into_constants(const Chain& chain) {
    put(data.data, index_image(chain, constant_bytes));
    copy_to_constant_memory(data.as<std::uint32_t>(), stream.get());
  }

  Chase chase(std::uint64_t stride, Timed timed) {
    buffers.poison(report);
    return {.chain = {.count = count, .stride = stride},
            .loads = loads,
            .walked_loads = 5,
            .timed = timed,
            .report = report.as<Report>()};
  }

  void run(GlobalLoad load, const Chase& c) {
    launch(write_chain, writers(c.chain.count), stream.get(), c.chain);
    launch(global_chase(load, c.timed), {1, warm_threads}, stream.get(), c, std::uint64_t{0});
    check(c);
  }

  /// `base_reported`: the chain lies where the kernel says.
  void check(Chase c, bool base_reported = false) {
    const Report r = copy_to_host<Report>(report, stream.get()).front();
    if (base_reported) c.chain.base = r.base;
    const ChaseEnd end = follow(c.chain, c.walked_loads, c.loads);
    CHECK(r.end == end.address);
    CHECK(r.sum == end.sum);
    CHECK(r.clock_end > r.clock_begin);
    if (test::under_sanitizer()) {
      // Only what was read counts.
    } else if (c.timed == Timed::mean) {
      CHECK(r.clocks > loads);
      CHECK(r.clocks < r.clock_end - r.clock_begin);
    } else {
      for (int i = 0; i < loads; ++i) CHECK(r.times[i] >= 1);
      for (int i = 0; i < loads; ++i) CHECK(r.times[i] < 1u << 30);
      for (const std::uint32_t empty : r.empty) CHECK(empty < 10'000);
    }
    check_guards();
  }
};

constexpr Timed both[] = {Timed::mean, Timed::each};

}  // namespace

TEST_CASE("chases through global memory end where the host's do",
          "[gpu][memory_latency][sanitized]") {
  Memory memory;
  for (const GlobalLoad load :
       {GlobalLoad::cached, GlobalLoad::l2_only, GlobalLoad::read_only, GlobalLoad::system,
        GlobalLoad::atomic_add, GlobalLoad::atomic_cas}) {
    for (const Timed timed : both) {
      for (const std::uint32_t slots : {1u, 4u}) {
        CAPTURE(static_cast<int>(load), static_cast<int>(timed), slots);
        Chase c = memory.chase(256, timed);
        c.chain.base = reinterpret_cast<std::uint64_t>(memory.data.data);
        c.chain.jitter_slots = slots;
        c.chain.jitter_bytes = 32;
        c.warm = c.chain;
        c.warm_passes = 2;
        memory.run(load, c);
      }
    }
  }
}

TEST_CASE("chases through shared memory and clusters end where the host's do",
          "[gpu][memory_latency][sanitized]") {
  Memory memory;
  constexpr int bytes = 4096;
  const int largest = largest_cluster(memory.facts.major, bytes);
  CHECK((memory.facts.major < 9 ? largest == 0 : largest >= 2));
  for (const SharedLoad load : {SharedLoad::load, SharedLoad::atomic_add, SharedLoad::atomic_cas}) {
    CAPTURE(static_cast<int>(load));
    for (const Timed timed : both) {
      const Chase c = memory.chase(8, timed);
      launch(shared_chase(load, timed), {1, fill_threads, bytes}, memory.stream.get(), c, 0u);
      memory.check(c, true);
    }
    for (int size = 2; size <= largest; size *= 2) {
      for (const int target : {0, 1, size - 1}) {
        CAPTURE(size, target);
        const Chase c = memory.chase(8, Timed::mean);
        launch_cluster_chase(load, c, bytes, size, target, memory.stream.get());
        memory.check(c, true);
      }
    }
  }
}

TEST_CASE("chases through constant memory and textures end where the host's do",
          "[gpu][memory_latency][sanitized]") {
  Memory memory;
  for (const Timed timed : both) {
    CAPTURE(static_cast<int>(timed));
    const Chase constants = memory.chase(64, timed);
    memory.put_into_constants(constants.chain);
    launch(constant_chase(timed), {1, 1}, memory.stream.get(), constants);
    memory.check(constants);

    const Chase parameters = memory.chase(64, timed);
    launch(parameter_chase(timed), {1, 1}, memory.stream.get(), *parameter_words(parameters.chain),
           parameters);
    memory.check(parameters);

    const auto texture = make_texture(memory.data.data, memory.data.bytes);
    const Chase texels = memory.chase(32, timed);
    launch(write_index_chain, writers(count), memory.stream.get(), texels.chain,
           memory.data.as<std::uint32_t>());
    launch(texture_chase(timed), {1, 1}, memory.stream.get(), *texture, texels);
    memory.check(texels);
  }
}

TEST_CASE("straight-line code runs as long as it says, constants beside it or not",
          "[gpu][memory_latency][sanitized]") {
  Memory memory;
  const Chain constants{.count = count, .stride = 64};
  memory.put_into_constants(constants);
  std::int64_t clocks_of_longest = 0, clocks_of_second = 0;
  for (const int blocks : {0, 1, 2, most_code_blocks - 1, most_code_blocks}) {
    for (const bool with_loads : {false, true}) {
      if (blocks == 0 && !with_loads) continue;
      CAPTURE(blocks, with_loads);
      memory.buffers.poison(memory.report);
      const CodeRun run{.blocks = blocks,
                        .constants = with_loads ? constants : Chain{},
                        .rounds = 2,
                        .report = memory.report.as<Report>()};
      launch(run_code_and_constants, {1, 1}, memory.stream.get(), run, 1.0f);
      const auto r = memory.read<Report>(memory.report).front();
      // Two rounds of one block, then one to warm up and two.
      CHECK(r.executed ==
            (3u * static_cast<unsigned>(blocks) + (blocks > 0 ? 2 : 0)) * code_block_sums);
      const ChaseEnd end = with_loads ? follow(constants, 0, 5 * count) : ChaseEnd{};
      CHECK(r.sum == end.sum);
      CHECK(r.end == end.address);
      if (with_loads || blocks > 1) CHECK(r.clocks > 0);
      CHECK(r.clocks < r.clock_end - r.clock_begin);
      if (!with_loads) (blocks == 2 ? clocks_of_second : clocks_of_longest) = r.clocks;
      memory.check_guards();
    }
  }
  // No instruction of the code was dropped: an issue a cycle is the most that one warp gets.
  if (!test::under_sanitizer()) {
    CHECK(clocks_of_longest >= 2 * (most_code_blocks - 1) * code_block_instructions);
    CHECK(clocks_of_second >= code_block_instructions);
  }
}

TEST_CASE("pairs read the two words they say", "[gpu][memory_latency][sanitized]") {
  Memory memory;
  const std::uint64_t words = memory.data.bytes / 4;
  launch(fill_words, writers(words), memory.stream.get(), memory.data.as<std::uint32_t>(), words);
  const auto host = memory.read<std::uint32_t>(memory.data);
  for (std::uint32_t i = 0; i < words; ++i) REQUIRE(host[i] == word_value(i));
  for (const GlobalLoad load : {GlobalLoad::cached, GlobalLoad::l2_only}) {
    for (const std::uint32_t distance : {4u, 512u}) {
      CAPTURE(static_cast<int>(load), distance);
      memory.buffers.poison(memory.report);
      const Pairs pairs{memory.data.data, 64, 1024, distance, memory.report.as<Report>()};
      launch(pair_kernel(load), {1, 1}, memory.stream.get(), pairs);
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < 64; ++i) sum += host[i * 256] + host[i * 256 + distance / 4];
      const auto report = memory.read<Report>(memory.report).front();
      CHECK(report.sum == sum);
      for (int i = 0; i < 64; ++i) CHECK(report.times[i] < 1u << 30);
      memory.check_guards();
    }
  }
}

TEST_CASE("an L1 hit takes the same by both ways to time it", "[gpu][memory_latency]") {
  Memory memory;
  double by_way[2];
  for (const Timed timed : both) {
    Chase c = memory.chase(128, timed);
    c.chain.base = reinterpret_cast<std::uint64_t>(memory.data.data);
    c.loads = max_timed_loads;
    c.warm = c.chain;
    c.warm_passes = 2;
    memory.run(GlobalLoad::cached, c);
    const auto r = memory.read<Report>(memory.report).front();
    std::vector<std::uint32_t> times(r.times, r.times + c.loads),
        empty(r.empty, r.empty + empty_brackets);
    std::sort(times.begin(), times.end());
    std::sort(empty.begin(), empty.end());
    by_way[static_cast<int>(timed)] =
        timed == Timed::mean ? static_cast<double>(r.clocks) / c.loads
                             : double(times[times.size() / 2]) - empty[empty.size() / 2];
  }
  CAPTURE(by_way[0], by_way[1]);
  CHECK(std::abs(by_way[0] - by_way[1]) <= 1);
}
