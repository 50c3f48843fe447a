#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/warp_access.h"
#include "tests/host/host_run.h"

namespace fathom::host_run {

/// The accesses of one block: what they cost as warp instructions, and which of them race.
class AccessLog {
 public:
  AccessLog(std::span<const Buffer> buffers, Report& report) : buffers_(buffers), report_(report) {}

  void begin_block(int threads);
  /// A barrier that the whole block has passed: what comes now is ordered after what was before.
  void pass_barrier() { ++epoch_; }
  /// One access of one thread. `place`: in the code. Lanes of a warp that are at the same place for
  /// the same time, the first or the tenth, execute one instruction.
  void add(int thread, std::uintptr_t place, std::uintptr_t address, int bytes, bool writes);
  /// Adds the block's warp instructions to the report.
  void end_block();
  void fault(const std::string& sentence);

 private:
  struct Word {
    int epoch = -1, writer = -1, reader = -1;
    bool several_readers = false, reported = false;
  };
  struct Instruction {
    bool shared = false;
    models::WarpAccess access{.op = models::Access::load, .bytes_per_lane = 4, .active_mask = 0};
  };

  void look_for_race(int thread, std::uintptr_t word, bool writes);

  std::span<const Buffer> buffers_;
  Report& report_;
  int epoch_ = 0;
  std::unordered_map<std::uintptr_t, std::size_t> places_;    ///< numbered as they are met
  std::vector<std::vector<int>> visits_;                      ///< by thread and place
  std::vector<std::vector<std::vector<Instruction>>> warps_;  ///< by warp, place and visit
  std::unordered_map<std::uintptr_t, Word> words_;
};

}  // namespace fathom::host_run
