#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "probes/atomics/patterns.h"

namespace fathom::atomics {

/// Atomics of one thread between two tests of the loop.
inline constexpr int unroll = 8;

/// What one block saw of its own atomics: from before the first until all were performed.
struct BlockTimes {
  long long clock_begin, clock_end;  ///< clock64 of its SM
  long long ns_begin, ns_end;        ///< global timer, the same for all SMs
};

/// Pointers to device memory.
struct Run {
  /// L2: where the pattern lies. Shared memory: [blocks][pattern's window], what each block's
  /// shared memory held at the end.
  std::byte* memory;
  Pattern pattern;
  int iterations;            ///< atomics of each active thread, a multiple of `unroll`
  std::uint32_t start;       ///< every word before the first atomic, set by the shared kernels
  std::uint32_t operand[4];  ///< compare and swap compares with it as well
  BlockTimes* times;         ///< [blocks]
  std::uint32_t* sums;       ///< [threads]: words of all that its atomics returned, added up
};

using Kernel = void (*)(Run);

/// Throws std::invalid_argument for an instruction that is not among all.
Kernel find_kernel(const Instruction& instruction);
/// The same of those in shared memory, which have a file of their own.
Kernel shared_kernel(const Instruction& instruction);

/// Blocks of shared::cluster run in pairs, each of which works on the other's memory.
inline constexpr int cluster_size = 2;

inline constexpr int most_threads = 1024;

/// What each word of the memory must hold: of `regions` windows one behind the other, as
/// the same warps worked on each.
struct Check {
  const std::byte* memory;
  int regions;
  Pattern pattern;
  int value_bytes;
  std::uint32_t start;
  Expected expected;
  unsigned long long* wrong;  ///< words that differ are added; not cleared
};
void launch_count_wrong(const Check& check, cudaStream_t stream);

}  // namespace fathom::atomics
