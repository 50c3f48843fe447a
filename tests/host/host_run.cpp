#include "tests/host/host_run.h"

#include <fmt/format.h>
#include <ucontext.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "gemm/ladder/simt_lesson.h"
#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "tests/host/cuda_on_host.h"

// The program's own memory, static variables included (linker's symbols; see end(3)).
extern "C" char __executable_start, __data_start, end;

uint3 threadIdx;
uint3 blockIdx;

namespace fathom::host_run {

namespace {

/// The accesses of one block: what they cost as warp instructions, and which of them race.
class AccessLog {
 public:
  AccessLog(std::span<const Buffer> buffers, Report& report) : buffers_(buffers), report_(report) {}

  void begin_block(int threads) {
    epoch_ = 0;
    words_.clear();
    visits_.assign(static_cast<std::size_t>(threads), {});
    warps_.assign(static_cast<std::size_t>(threads + models::warp_size - 1) / models::warp_size,
                  {});
  }
  /// A barrier that the whole block has passed: what comes now is ordered after what was before.
  void pass_barrier() { ++epoch_; }
  void fault(const std::string& sentence) {
    constexpr std::size_t most_faults = 10;
    if (report_.faults.size() < most_faults) report_.faults.push_back(sentence);
  }

  /// One access of one thread. `place`: in the code. Lanes of a warp that are at the same place for
  /// the same time, the first or the tenth, execute one instruction.
  void add(int thread, std::uintptr_t place, std::uintptr_t address, int bytes, bool writes) {
    const bool global = std::ranges::any_of(buffers_, [&](const Buffer& buffer) {
      const auto start = reinterpret_cast<std::uintptr_t>(buffer.data);
      return address >= start &&
             address + static_cast<std::uintptr_t>(bytes) <= start + buffer.bytes;
    });
    const bool shared = !global && within(address, __data_start, end);
    if (!global && !shared) {
      if (within(address, __executable_start, __data_start)) return;  // constants
      return fault(fmt::format("thread {} {} {} bytes outside of all buffers", thread,
                               writes ? "writes" : "reads", bytes));
    }
    if (shared) {
      constexpr std::uintptr_t word_bytes = 4;
      const std::uintptr_t last = (address + static_cast<std::uintptr_t>(bytes) - 1) / word_bytes;
      for (std::uintptr_t word = address / word_bytes; word <= last; ++word)
        look_for_race(thread, word, writes);
    }
    const std::size_t number = places_.try_emplace(place, places_.size()).first->second;
    std::vector<int>& visits = visits_[static_cast<std::size_t>(thread)];
    if (visits.size() <= number) visits.resize(number + 1);
    const auto visit = static_cast<std::size_t>(visits[number]++);
    auto& warp = warps_[static_cast<std::size_t>(thread / models::warp_size)];
    if (warp.size() <= number) warp.resize(number + 1);
    if (warp[number].size() <= visit) warp[number].resize(visit + 1);
    Instruction& instruction = warp[number][visit];
    models::WarpAccess& access = instruction.access;
    const auto lane = static_cast<std::size_t>(thread % models::warp_size);
    instruction.shared = shared;
    access.op = writes ? models::Access::store : models::Access::load;
    access.bytes_per_lane = bytes;
    access.active_mask |= 1u << lane;
    access.address[lane] = address;
  }

  /// Adds the block's warp instructions to the report.
  void end_block() {
    for (const auto& warp : warps_) {
      for (const auto& place : warp) {
        for (const Instruction& instruction : place) {
          try {
            count(instruction.access, instruction.shared);
          } catch (const std::invalid_argument& error) {
            fault(error.what());
          }
        }
      }
    }
  }

 private:
  struct Word {
    int epoch = -1, writer = -1, reader = -1;
    bool several_readers = false, reported = false;
  };
  struct Instruction {
    bool shared = false;
    models::WarpAccess access{.op = models::Access::load, .bytes_per_lane = 4, .active_mask = 0};
  };

  static bool within(std::uintptr_t address, const char& first, const char& last) {
    return address >= reinterpret_cast<std::uintptr_t>(&first) &&
           address < reinterpret_cast<std::uintptr_t>(&last);
  }

  void count(models::WarpAccess access, bool shared) {
    const bool load = access.op == models::Access::load;
    if (!shared) {
      (load ? report_.global_load_sectors : report_.global_store_sectors) +=
          models::global_cost(access).sectors;
      report_.global_load_requests += load;
      return;
    }
    // As offsets: arrays start on 16 bytes at least, and where exactly changes no cost.
    std::uint64_t least = ~std::uint64_t{0};
    for (int lane = 0; lane < models::warp_size; ++lane)
      if (access.active(lane))
        least = std::min(least, access.address[static_cast<std::size_t>(lane)]);
    for (std::uint64_t& address : access.address) address -= least / 16 * 16;
    const models::SharedCost cost = models::shared_cost(access);
    (load ? report_.shared_load_wavefronts : report_.shared_store_wavefronts) += cost.wavefronts;
    (load ? report_.shared_load_conflicts : report_.shared_store_conflicts) += cost.conflicts;
  }

  void look_for_race(int thread, std::uintptr_t number, bool writes) {
    Word& word = words_[number];
    if (word.epoch != epoch_) word = {epoch_, -1, -1, false, word.reported};
    const bool others_wrote = word.writer != -1 && word.writer != thread;
    const bool others_read = word.several_readers || (word.reader != -1 && word.reader != thread);
    if ((others_wrote || (writes && others_read)) && !word.reported) {
      word.reported = true;
      ++report_.races;
      fault(
          fmt::format("race: thread {} {} a word of shared memory that thread {} {} since the last "
                      "barrier",
                      thread, writes ? "writes" : "reads", others_wrote ? word.writer : word.reader,
                      others_wrote ? "wrote" : "read"));
    }
    if (writes) {
      word.writer = thread;
    } else if (word.reader == -1) {
      word.reader = thread;
    } else if (word.reader != thread) {
      word.several_readers = true;
    }
  }

  std::span<const Buffer> buffers_;
  Report& report_;
  int epoch_ = 0;
  std::unordered_map<std::uintptr_t, std::size_t> places_;    ///< numbered as they are met
  std::vector<std::vector<int>> visits_;                      ///< by thread and place
  std::vector<std::vector<std::vector<Instruction>>> warps_;  ///< by warp, place and visit
  std::unordered_map<std::uintptr_t, Word> words_;
};

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
