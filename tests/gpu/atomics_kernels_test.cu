// Every kernel of the atomics probe on little memory: what it must leave behind, and that something
// else would be seen.

#include "probes/atomics/kernels.h"
#include "probes/atomics/patterns.h"
#include "probes/device/launch.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::atomics;

namespace {

constexpr int blocks = 4, threads = 96, iterations = 2 * unroll;

struct Bench : test::Pool {
  int chip = 10 * facts.major + facts.minor;
  Buffer memory = buffers.output("memory", 64 << 10);
  Buffer times = buffers.output("times", blocks * sizeof(BlockTimes));
  Buffer sums = buffers.output("sums", blocks* threads * sizeof(std::uint32_t));

  void check(const Instruction& instruction, const Pattern& pattern) {
    CAPTURE(instruction.ptx(), pattern.slots, pattern.lane_bytes, pattern.active_lanes);
    const bool l2 = instruction.level == Level::l2;
    const int windows = l2 ? 1 : blocks;
    REQUIRE(pattern.window_bytes() * windows <= memory.bytes);
    const std::uint64_t warps = (l2 ? blocks : 1) * threads / 32;
    const Expected expected = expect(instruction, pattern, warps, iterations);
    const std::uint32_t start = start_of(instruction.operation);
    set(memory, l2 ? static_cast<int>(start & 0xFF) : 0xA5);
    set(sums, 0);
    buffers.poison(times);
    Run run{memory.data,
            pattern,
            iterations,
            start,
            {},
            times.as<BlockTimes>(),
            sums.as<std::uint32_t>()};
    std::ranges::copy(operand_of(instruction.operation, instruction.type), run.operand);
    const Kernel kernel = find_kernel(instruction.ptx());
    CHECK(resident_blocks_of(kernel, threads) > 0);
    launch(kernel, instruction.level, run, blocks, threads, stream.get());
    const auto count_wrong = [&] {
      return wrong_by([&](unsigned long long* wrong) {
        launch_count_wrong(
            {memory.data, windows, pattern, instruction.value_bytes(), start, expected, wrong},
            stream.get());
      });
    };
    CHECK(count_wrong() == 0);
    if (instruction.returns) {
      const auto parts = read<std::uint32_t>(sums);
      CHECK(std::accumulate(parts.begin(), parts.end(), std::uint32_t{0}) ==
            expected.sum_of_returns * static_cast<std::uint32_t>(windows));
    }
    for (const BlockTimes& t : read<BlockTimes>(times)) {
      CHECK(t.clock_end > t.clock_begin);
      CHECK(t.ns_begin > 0);
      CHECK(t.ns_end >= t.ns_begin);
    }
    check_guards();

    // One wrong bit in the last lane's word of the last slot.
    const std::uint32_t last_lane = pattern.lane_bytes * (pattern.active_lanes - 1);
    std::byte* word =
        memory.data + pattern.window_bytes() * windows - pattern.slot_bytes + last_lane;
    auto spoiled = copy_to_host<std::uint32_t>(word, 1, stream.get());
    spoiled[0] ^= 0x100;
    put(word, spoiled);
    CHECK(count_wrong() == 1);
  }

  void check_all(Level level) {
    for (const Instruction& instruction : all_instructions) {
      if (instruction.level != level || instruction.since > chip) continue;
      const auto value = static_cast<std::uint32_t>(instruction.value_bytes());
      const std::uint32_t warps = (level == Level::l2 ? blocks : 1) * threads / 32;
      check(instruction, {.slots = warps, .slot_bytes = 32 * value, .lane_bytes = value});
      check(instruction, {});
      // Neither as many slots as warps nor a divisor of all visits; and not all lanes.
      check(instruction, {.slots = 5, .slot_bytes = 1024, .lane_bytes = 32, .active_lanes = 7});
      check(instruction, {.slots = warps, .slot_bytes = 128, .active_lanes = 3});
    }
  }
};

}  // namespace

TEST_CASE("atomics leave what as many operations in a row would", "[gpu][atomics][sanitized]") {
  for (const Level level : {Level::l2, Level::shared, Level::cluster}) Bench().check_all(level);
  CHECK_THROWS_AS(find_kernel("atom.gpu.global.sub.u32"), std::out_of_range);
}
