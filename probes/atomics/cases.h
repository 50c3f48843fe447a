#pragma once

#include <vector>

#include "harness/cases.h"
#include "probes/atomics/kernels.h"
#include "probes/atomics/patterns.h"

namespace fathom::atomics {

/// How one instruction is run, on L2 by all blocks together, on shared memory by each block alone.
struct Plan {
  Instruction instruction;
  Pattern pattern;
  int blocks = 1, threads = 1024, iterations = unroll;

  std::uint64_t block_warps() const { return static_cast<std::uint64_t>(threads) / 32; }
  /// Warps that share a window, and windows.
  std::uint64_t warps() const {
    return instruction.level == Level::l2 ? blocks * block_warps() : block_warps();
  }
  int windows() const { return instruction.level == Level::l2 ? 1 : blocks; }
  /// Atomics of the lanes that share a window; a vector or a pair counts as one.
  double operations() const {
    return static_cast<double>(warps()) * pattern.active_lanes * iterations;
  }
};

/// Where a case belongs. Its axes, in this order: sweep, level, instruction, operation, type, form,
/// scope, pattern, and `more`.
struct Place {
  const char* sweep;
  const char* pattern;
  Axes more = {};
  Suite suite = Suite::standard;
  bool counted = false;  ///< by hardware counters
};

Case make_case(const DeviceFacts& device, const Plan& plan, const Place& place);

/// The sweep of this GPU.
std::vector<Case> all_cases(const DeviceFacts& device);

}  // namespace fathom::atomics
