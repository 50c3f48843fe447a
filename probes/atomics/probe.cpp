#include <algorithm>
#include <string_view>

#include "probes/atomics/cases.h"
#include "probes/atomics/claims.h"

namespace fathom::atomics {
namespace {

// Atomics of each thread, for launches of some tenths of a millisecond: far longer than it takes
// the blocks to start. Those of one address are as few as can be, since they may take a clock each.
constexpr int many = 512, scattered = 64, in_shared = 1024, contended = 16, shared_contended = 64;

/// What the hardware lacks and the compiler makes a loop of compare and swap of, in shared memory:
/// it takes far longer where all threads want one address.
bool is_loop(const Instruction& i) {
  return i.level == Level::shared && i.operation == Operation::add && i.type != Type::u32;
}

/// The whole GPU, every warp resident from the beginning to the end.
Plan whole_gpu(const DeviceFacts& device, const Instruction& instruction, int iterations) {
  constexpr int threads = 512;
  Plan plan{instruction, {}, device.sms, threads, iterations};
  if (instruction.level == Level::l2) {
    plan.blocks *= find_kernel(instruction.ptx()).resident_blocks(threads);
  } else {
    plan.threads = most_threads;
    if (instruction.level == Level::cluster) plan.blocks = device.sms / 2 * 2;
  }
  return plan;
}

/// Whether it is the one that stands for all others where the question is another than the type.
bool is_plain_add(const Instruction& i) {
  return i.operation == Operation::add && i.type == Type::u32 &&
         std::string_view(i.scope) != "sys" &&
         (i.level != Level::l2 || std::string_view(i.scope) == "gpu");
}

/// Each thread has a word of its own, the words of a warp side by side.
Case operation_case(const DeviceFacts& device, const Instruction& instruction) {
  Plan plan = whole_gpu(device, instruction, instruction.level == Level::shared ? in_shared : many);
  plan.pattern.slots = static_cast<std::uint32_t>(plan.warps());
  plan.pattern.lane_bytes = static_cast<std::uint32_t>(instruction.value_bytes());
  plan.pattern.slot_bytes = 32 * plan.pattern.lane_bytes;
  return make_case(
      device, plan,
      {"operations", own_words, {}, quick_if(instruction.quick), is_plain_add(instruction)});
}

Case same_address_case(const DeviceFacts& device, const Instruction& instruction) {
  const bool native = instruction.level == Level::shared && !is_loop(instruction);
  const Plan plan = whole_gpu(device, instruction, native ? shared_contended : contended);
  return make_case(device, plan,
                   {"same address",
                    one_address,
                    {},
                    quick_if(is_plain_add(instruction)),
                    is_plain_add(instruction)});
}

bool asked_of_one_address(const Instruction& i) {
  if (i.level == Level::l2 && std::string_view(i.scope) != "gpu") return false;
  if (i.type == Type::b128 || i.type == Type::f32x4 || i.type == Type::s32) return false;
  return i.operation == Operation::add || i.type == Type::u32;
}

/// The same instruction with other neighbours.
void add_spreads(std::vector<Case>& cases, const DeviceFacts& device, const Instruction& i) {
  const auto add = [&](const char* name, Pattern pattern, int iterations) {
    Plan plan = whole_gpu(device, i, iterations);
    if (pattern.slots == 0) pattern.slots = static_cast<std::uint32_t>(plan.warps());
    plan.pattern = pattern;
    cases.push_back(make_case(device, plan, {"spread", name, {}, quick_if(i.returns), true}));
  };
  add(address_a_warp, {.slots = 0, .slot_bytes = 128},
      i.level == Level::l2 ? scattered : in_shared);
  add(one_line, {.slots = 1, .slot_bytes = 128, .lane_bytes = 4},
      i.level == Level::l2 ? contended : in_shared);
  if (i.level != Level::l2) return;
  const auto quarter = static_cast<std::uint32_t>(device.l2_bytes / 4);
  add(sector_a_lane, {.slots = quarter / 1024, .slot_bytes = 1024, .lane_bytes = 32}, scattered);
  add(line_a_lane, {.slots = quarter / 4096, .slot_bytes = 4096, .lane_bytes = 128}, scattered);
}

void add_working_sets(std::vector<Case>& cases, const DeviceFacts& device, const Instruction& i) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  const std::uint64_t l2 = device.l2_bytes;
  // The largest stays below 1 GiB, where 32 bits of offset would overflow in twice the window.
  const std::uint64_t largest = std::min(8 * l2, 960 * mib);
  for (const std::uint64_t bytes :
       {mib, 4 * mib, l2 / 4, l2 / 2, 3 * l2 / 4, l2, 2 * l2, largest}) {
    for (const bool lines : {true, false}) {
      Plan plan = whole_gpu(device, i, lines ? many : scattered);
      plan.pattern.lane_bytes = lines ? 4 : 32;
      plan.pattern.slot_bytes = 32 * plan.pattern.lane_bytes;
      plan.pattern.slots = static_cast<std::uint32_t>(bytes / plan.pattern.slot_bytes);
      const auto size = static_cast<std::int64_t>(plan.pattern.window_bytes());
      const bool headline = bytes == largest;
      cases.push_back(make_case(device, plan,
                                {"working set",
                                 lines ? sweeping_lines : sector_a_lane,
                                 {{"working set (B)", size}},
                                 quick_if(headline && i.returns),
                                 headline}));
    }
  }
}

/// How the cost of one address grows: with the lanes of a warp, the warps of a block and the SMs.
void add_contenders(std::vector<Case>& cases, const DeviceFacts& device, const Instruction& i) {
  // Four million on one address at most; of one warp enough for the clocks to tell.
  constexpr int most_operations = 1 << 22;
  const bool l2 = i.level == Level::l2;
  const int most_iterations = l2 ? 1024 : 8192;
  const auto add = [&](const char* kind, int count, Plan plan) {
    const auto contenders = static_cast<int>(plan.warps() * plan.pattern.active_lanes);
    plan.iterations =
        std::clamp(most_operations / contenders / unroll * unroll, contended, most_iterations);
    const bool end = count == 1 || count == 32 || count == device.sms;
    cases.push_back(make_case(device, plan,
                              {"contenders",
                               one_address,
                               {{"contender", kind}, {"contenders", std::int64_t{count}}},
                               quick_if(end && i.returns)}));
  };
  Plan plan{i, {}, l2 ? 1 : device.sms, 32, contended};
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    plan.pattern.active_lanes = static_cast<std::uint32_t>(lanes);
    add("lanes of a warp", lanes, plan);
  }
  for (const int warps : {2, 4, 8, 16, 32}) {
    plan.threads = warps * 32;
    add("warps of an SM", warps, plan);
  }
  if (!l2) return;
  for (int sms = 2; sms < device.sms; sms *= 2) {
    plan.blocks = sms;
    add("SMs", sms, plan);
  }
  plan.blocks = device.sms;
  add("SMs", device.sms, plan);
}

const Probe probe{
    .name = "atomics",
    .question =
        "How many atomics does each level complete in a clock, by operation, type, scope and "
        "spread of addresses, and what does it cost to share one?",
    .method =
        "Every thread repeats one instruction on the addresses of its pattern, eight of them to a "
        "turn of the loop. In the L2 all warps that fit the GPU work at once; the time is from the "
        "first block's begin to the last block's end by the global timer, in clocks of the SMs at "
        "the rate that the blocks saw meanwhile. In shared memory each SM has one block with "
        "memory of its own, timed by its own clock, the median SM counting; in distributed shared "
        "memory the blocks of a pair work on each other's. A block is done when what its atomics "
        "returned has arrived and a fence says that its reductions are performed. An atomic is one "
        "lane's: pairs and vectors count once. Each launch is checked: every word of memory "
        "against as many operations one after the other, and the sum of all that was returned. "
        "Compare and swap always finds what it compares with.",
    .conclude = conclude,
    .cases = {all_cases}};

}  // namespace

std::vector<Case> all_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  const int chip = 10 * device.major + device.minor;
  const auto each = [&](auto&& chosen, auto&& add) {
    for (const Instruction& instruction : all_instructions())
      if (instruction.since <= chip && chosen(instruction)) add(instruction);
  };
  const auto in_own_sm_or_l2 = [](const Instruction& i) {
    return is_plain_add(i) && i.level != Level::cluster;
  };
  each([](const Instruction&) { return true; },
       [&](const Instruction& i) { cases.push_back(operation_case(device, i)); });
  each(
      asked_of_one_address,
      [&](const Instruction& i) { cases.push_back(same_address_case(device, i)); });
  each(
      in_own_sm_or_l2, [&](const Instruction& i) { add_spreads(cases, device, i); });
  each(in_own_sm_or_l2, [&](const Instruction& i) {
    if (i.returns) add_contenders(cases, device, i);
  });
  // Last: the largest take most of the memory that the probe uses.
  each(in_own_sm_or_l2, [&](const Instruction& i) {
    if (i.level == Level::l2) add_working_sets(cases, device, i);
  });
  return cases;
}

}  // namespace fathom::atomics

FATHOM_PROBE(fathom::atomics::probe)
