#include "tests/host/access_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/global_memory.h"
#include "models/shared_memory.h"

// The program's own memory, static variables included (linker's symbols; see end(3)).
extern "C" char __executable_start, __data_start, end;

namespace fathom::host_run {
namespace {

constexpr std::size_t most_faults = 10;
constexpr std::uintptr_t word_bytes = 4;

bool within(std::uintptr_t address, const char& first, const char& last) {
  return address >= reinterpret_cast<std::uintptr_t>(&first) &&
         address < reinterpret_cast<std::uintptr_t>(&last);
}

}  // namespace

void AccessLog::begin_block(int threads) {
  epoch_ = 0;
  words_.clear();
  visits_.assign(static_cast<std::size_t>(threads), {});
  warps_.assign(static_cast<std::size_t>(threads + models::warp_size - 1) / models::warp_size, {});
}

void AccessLog::fault(const std::string& sentence) {
  if (report_.faults.size() < most_faults) report_.faults.push_back(sentence);
}

void AccessLog::add(int thread, std::uintptr_t place, std::uintptr_t address, int bytes,
                    bool writes) {
  const bool global = std::ranges::any_of(buffers_, [&](const Buffer& buffer) {
    const auto start = reinterpret_cast<std::uintptr_t>(buffer.data);
    return address >= start && address + static_cast<std::uintptr_t>(bytes) <= start + buffer.bytes;
  });
  const bool shared = !global && within(address, __data_start, end);
  if (!global && !shared) {
    if (within(address, __executable_start, __data_start)) return;  // constants
    return fault(fmt::format("thread {} {} {} bytes outside of all buffers", thread,
                             writes ? "writes" : "reads", bytes));
  }
  if (shared) {
    for (std::uintptr_t word = address / word_bytes;
         word <= (address + static_cast<std::uintptr_t>(bytes) - 1) / word_bytes; ++word)
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

void AccessLog::look_for_race(int thread, std::uintptr_t number, bool writes) {
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

void AccessLog::end_block() {
  for (const auto& warp : warps_) {
    for (const auto& place : warp) {
      for (const Instruction& instruction : place) {
        models::WarpAccess access = instruction.access;
        const bool load = access.op == models::Access::load;
        try {
          if (!instruction.shared) {
            (load ? report_.global_load_sectors : report_.global_store_sectors) +=
                models::global_cost(access).sectors;
            report_.global_load_requests += load;
            continue;
          }
          // As offsets: arrays start on 16 bytes at least, and where exactly changes no cost.
          std::uint64_t least = ~std::uint64_t{0};
          for (int lane = 0; lane < models::warp_size; ++lane) {
            if (access.active(lane))
              least = std::min(least, access.address[static_cast<std::size_t>(lane)]);
          }
          for (std::uint64_t& address : access.address) address -= least / 16 * 16;
          const models::SharedCost cost = models::shared_cost(access);
          (load ? report_.shared_load_wavefronts : report_.shared_store_wavefronts) +=
              cost.wavefronts;
          (load ? report_.shared_load_conflicts : report_.shared_store_conflicts) += cost.conflicts;
        } catch (const std::invalid_argument& error) {
          fault(error.what());
        }
      }
    }
  }
}

}  // namespace fathom::host_run
