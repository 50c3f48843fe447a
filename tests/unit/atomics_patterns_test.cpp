// The host's reckoning of what atomics leave behind, against a plain simulation of every thread.

#include <bit>

#include "probes/atomics/patterns.h"
#include "tests/testing.h"

using namespace fathom::atomics;

namespace {

const Instruction& instruction(const std::string& ptx) {
  for (const Instruction& i : all_instructions) {
    if (i.ptx() == ptx) return i;
  }
  throw std::out_of_range(ptx);
}

/// Additions of one to 32-bit words by every lane in turn.
struct Simulation {
  std::vector<std::uint32_t> words;
  std::uint32_t returned = 0;

  Simulation(const Pattern& p, std::uint64_t warps, std::uint64_t iterations)
      : words(p.window_bytes() / 4) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      for (std::uint64_t warp = 0; warp < warps; ++warp) {
        for (std::uint32_t lane = 0; lane < p.active_lanes; ++lane) {
          const std::uint64_t slot = (warp + i * warps) % p.slots;
          returned += words.at((slot * p.slot_bytes + lane * p.lane_bytes) / 4)++;
        }
      }
    }
  }
};

}  // namespace

TEST_CASE("what additions leave and return is what every lane in turn would", "[probes]") {
  const Instruction& add = instruction("atom.gpu.global.add.u32");
  const Pattern patterns[] = {
      {},
      {.slots = 6, .slot_bytes = 128, .lane_bytes = 4},
      {.slots = 5, .slot_bytes = 128, .lane_bytes = 0, .active_lanes = 3},
      {.slots = 4, .slot_bytes = 1024, .lane_bytes = 32, .active_lanes = 7},
      {.slots = 100, .slot_bytes = 128, .lane_bytes = 4},  // more slots than visits
  };
  for (const Pattern& p : patterns) {
    CAPTURE(p.slots, p.lane_bytes);
    const Simulation simulation(p, 6, 8);
    const Expected expected = expect(add, p, 6, 8);
    CHECK(expected.sum_of_returns == simulation.returned);
    for (std::uint32_t slot = 0; slot < p.slots; ++slot) {
      const Words& value =
          slot < expected.slots_with_more ? expected.value_with_more : expected.value;
      const std::uint32_t lanes = p.lane_bytes == 0 ? 1 : p.active_lanes;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        CAPTURE(slot, lane);
        CHECK(simulation.words.at((slot * p.slot_bytes + lane * p.lane_bytes) / 4) == value[0]);
      }
    }
  }
}

TEST_CASE("each operation and type does what its instruction says", "[probes]") {
  for (const auto& [ptx, count, value] :
       {std::tuple{"atom.gpu.global.add.s32", 1000, 1000u},
        {"red.gpu.global.add.f32", 1000, std::bit_cast<std::uint32_t>(1000.0f)},
        {"red.gpu.global.max.u32", 3, 7u},
        {"atom.gpu.global.min.s32", 3, static_cast<std::uint32_t>(-5)},
        {"atom.gpu.global.and.b32", 2, 0x0F0F0F0Fu},
        {"atom.gpu.global.exch.b32", 2, 0x5EED5EEDu},
        // It finds what it compares with each time, and stores the same.
        {"atom.gpu.global.cas.b32", 2, 0x5A5A5A5Au},
        // 3 + 1 is 4: half 0x4400, bfloat16 0x4080. And the largest whole number whose successor a
        // half (2048) or a bfloat16 (256) can still tell.
        {"atom.gpu.global.add.noftz.f16x2", 4, 0x44004400u},
        {"atom.gpu.global.add.noftz.bf16x2", 4, 0x40804080u},
        {"atom.gpu.global.add.noftz.f16x2", 100'000, 0x68006800u},
        {"atom.gpu.global.add.noftz.bf16x2", 100'000, 0x43804380u}}) {
    CAPTURE(ptx, count);
    CHECK(expect(instruction(ptx), {.active_lanes = 1}, 1, count).value[0] == value);
  }
  const auto once = [](const char* ptx) { return expect(instruction(ptx), {}, 1, 1); };
  const Words u64 = once("atom.gpu.global.add.u64").value;
  CHECK((u64[0] == 32 && u64[1] == 32));
  const Words f64 = once("red.gpu.global.add.f64").value;
  CHECK(std::bit_cast<double>(f64[0] | std::uint64_t{f64[1]} << 32) == 32.0);
  for (const std::uint32_t word : once("red.gpu.global.add.v4.f32").value)
    CHECK(std::bit_cast<float>(word) == 32.0f);
  CHECK(expect(instruction("atom.gpu.global.cas.b32"), {}, 1, 2).sum_of_returns ==
        static_cast<std::uint32_t>(64ull * 0x5A5A5A5A));
  // The first finds what was there, the others what the first stored.
  CHECK(once("atom.gpu.global.exch.b32").sum_of_returns ==
        static_cast<std::uint32_t>(31ull * 0x5EED5EED));
}

TEST_CASE("instructions are told apart by their PTX", "[probes]") {
  std::set<std::string> names;
  for (const Instruction& i : all_instructions) {
    CAPTURE(i.ptx());
    CHECK(names.insert(i.ptx()).second);
    // Whatever is not added up differs from nothing having been done.
    const Expected expected = expect(i, {}, 1, 8);
    const bool changed = expected.value[0] != start_of(i.operation) ||
                         i.operation == Operation::compare_swap || i.type == Type::f64;
    CHECK(changed);
    if (i.returns && i.type != Type::f64) CHECK(expected.sum_of_returns != 0);
  }
  CHECK(names.size() > 40);
}
