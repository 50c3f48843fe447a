#include "tests/host/host_run.h"

#include <ucontext.h>

#include <map>
#include <stdexcept>

#include "gemm/ladder/simt_lesson.h"
#include "tests/host/access_log.h"
#include "tests/host/cuda_on_host.h"

uint3 threadIdx;
uint3 blockIdx;

namespace fathom::host_run {

namespace {

constexpr std::size_t stack_bytes = 32 * 1024;

bool is_part_of(const uint3& variable, std::uintptr_t address) {
  const auto start = reinterpret_cast<std::uintptr_t>(&variable);
  return address >= start && address < start + sizeof variable;
}

/// Threads that meet: the last one to come lets all go on.
struct Meeting {
  int expected = 0, arrived = 0, generation = 0;

  /// Whether that was the last one.
  bool arrive() {
    if (++arrived < expected) return false;
    return complete();
  }
  /// One fewer is to come; whether all of the others are there.
  bool leave() { return --expected > 0 && arrived == expected && complete(); }
  bool complete() {
    arrived = 0;
    ++generation;
    return true;
  }
};

struct Warp {
  Meeting meeting;
  float values[2][models::warp_size] = {};  ///< of a shuffle, and of the one before
};

/// A thread of the block, with a stack of its own.
struct Thread {
  ucontext_t context;
  bool done = false;
};

/// A call of `record`: a launch's threads, and what they do.
struct Machine {
  std::span<const Buffer> buffers;
  int left_out;
  Report report{};
  AccessLog log{buffers, report};
  std::map<std::uintptr_t, int> barriers{};  ///< places, numbered as they are met

  std::vector<char> stacks{};  ///< in one piece, so that what is on them is known
  std::vector<Thread> threads{};
  ucontext_t scheduler{};
  int thread = -1;  ///< that runs; -1: none
  const gemm::BlocksLaunch* launch = nullptr;
  Meeting block{};
  std::vector<Warp> warps{};

  void run_block(int count);
  void run_thread();
  void note(void* address, int bytes, bool writes, void* place);
  Thread& present() { return threads[static_cast<std::size_t>(thread)]; }
  void wait(Meeting& meeting) {
    const int generation = meeting.generation;
    while (meeting.generation == generation) swapcontext(&present().context, &scheduler);
  }
  Warp& warp() { return warps[static_cast<std::size_t>(thread / models::warp_size)]; }
};

/// The one that is on.
Machine* on = nullptr;

void Machine::note(void* address, int bytes, bool writes, void* place) {
  if (thread == -1) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto stack = reinterpret_cast<std::uintptr_t>(stacks.data());
  if (at >= stack && at < stack + stacks.size()) return;
  if (is_part_of(threadIdx, at) || is_part_of(blockIdx, at)) return;
  log.add(thread, reinterpret_cast<std::uintptr_t>(place), at, bytes, writes);
}

void Machine::run_thread() {
  launch->call(launch->kernel, launch->product);
  warp().meeting.leave();
  if (block.leave()) log.pass_barrier();
  present().done = true;
}

void Machine::run_block(int count) {
  const auto size = static_cast<std::size_t>(count);
  stacks.resize(size * stack_bytes);
  block = {count, 0, 0};
  warps.assign((size + models::warp_size - 1) / models::warp_size, {});
  for (int t = 0; t < count; ++t)
    ++warps[static_cast<std::size_t>(t / models::warp_size)].meeting.expected;
  log.begin_block(count);
  threads.assign(size, {});
  for (std::size_t t = 0; t < size; ++t) {
    ucontext_t& context = threads[t].context;
    getcontext(&context);
    context.uc_stack.ss_sp = stacks.data() + t * stack_bytes;
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = &scheduler;
    makecontext(
        &context, [] { on->run_thread(); }, 0);
  }
  for (int live = count; live > 0;) {
    bool progress = false;
    for (thread = 0; thread < count; ++thread) {
      if (present().done) continue;
      threadIdx = {static_cast<unsigned>(thread), 0, 0};
      const int met = block.generation + warp().meeting.generation;
      swapcontext(&scheduler, &present().context);
      live -= present().done;
      progress |= present().done || met != block.generation + warp().meeting.generation;
    }
    if (!progress) {
      log.fault("threads wait for others that never come");
      break;
    }
  }
  thread = -1;
  log.end_block();
}

}  // namespace

Report record(std::span<const Buffer> buffers, const std::function<void()>& launch, int left_out) {
  Machine machine{buffers, left_out};
  on = &machine;
  launch();
  on = nullptr;
  machine.report.barriers = static_cast<int>(machine.barriers.size());
  return machine.report;
}

}  // namespace fathom::host_run

using fathom::host_run::on;

void __syncthreads() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const auto number = static_cast<int>(on->barriers.size());
  if (on->barriers.try_emplace(place, number).first->second == on->left_out) return;
  if (on->block.arrive()) {
    on->log.pass_barrier();
  } else {
    on->wait(on->block);
  }
}

float __shfl_sync(unsigned mask, float value, int source) {
  if (mask != fathom::models::all_lanes) on->log.fault("a shuffle of a part of a warp");
  fathom::host_run::Warp& warp = on->warp();
  float(&values)[fathom::models::warp_size] = warp.values[warp.meeting.generation % 2];
  values[on->thread % fathom::models::warp_size] = value;
  if (!warp.meeting.arrive()) on->wait(warp.meeting);
  return values[source % fathom::models::warp_size];
}

namespace fathom::gemm {

void launch_blocks(const BlocksLaunch& launch, cudaStream_t) {
  if (on == nullptr) throw std::logic_error("a kernel is launched without a recording");
  on->launch = &launch;
  for (unsigned y = 0; y < launch.grid.y; ++y) {
    for (unsigned x = 0; x < launch.grid.x; ++x) {
      blockIdx = {x, y, 0};
      on->run_block(launch.threads);
    }
  }
}

}  // namespace fathom::gemm

// What -fsanitize=thread calls for every access to memory. The sanitizer's own runtime is not
// linked.
extern "C" {
void __tsan_read_range(void* at, std::size_t bytes) {
  if (on != nullptr) on->note(at, static_cast<int>(bytes), false, __builtin_return_address(0));
}
void __tsan_write_range(void* at, std::size_t bytes) {
  if (on != nullptr) on->note(at, static_cast<int>(bytes), true, __builtin_return_address(0));
}
#define FATHOM_ACCESS(kind, bytes, writes)                                       \
  void __tsan_##kind##bytes(void* at) {                                          \
    if (on != nullptr) on->note(at, bytes, writes, __builtin_return_address(0)); \
  }
#define FATHOM_ACCESSES(bytes)                \
  FATHOM_ACCESS(read, bytes, false)           \
  FATHOM_ACCESS(write, bytes, true)           \
  FATHOM_ACCESS(unaligned_read, bytes, false) \
  FATHOM_ACCESS(unaligned_write, bytes, true)
FATHOM_ACCESSES(1)
FATHOM_ACCESSES(2)
FATHOM_ACCESSES(4)
FATHOM_ACCESSES(8)
FATHOM_ACCESSES(16)
void __tsan_vptr_update(void**, void*) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
