#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "tests/host/host_run.h"

// The program's own memory, static variables included (linker's symbols; see end(3)).
extern "C" char __executable_start, __data_start, end;

namespace fathom::host_run {

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

}  // namespace fathom::host_run
