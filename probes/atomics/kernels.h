#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "probes/atomics/patterns.h"

namespace fathom::atomics {

/// Atomics of one thread between two tests of the loop.
inline constexpr int unroll = 8;

/// What one block saw of its own atomics: from before the first until all were performed.
struct BlockTimes {
  long long clock_begin, clock_end;  ///< clock64 of its SM
  long long ns_begin, ns_end;        ///< global timer, the same for all SMs
};

/// Arguments of one launch; all pointers to device memory.
struct Run {
  /// L2: where the pattern lies. Shared memory: [blocks][pattern's window], what each block's
  /// shared memory held at the end.
  std::byte* memory;
  Pattern pattern;
  int iterations;  ///< atomics of each active thread, a multiple of `unroll`
  std::uint32_t
      start;  ///< every word of the memory before the first atomic, set by the shared kernels
  std::uint32_t operand[4];  ///< Words of the operand; compare and swap compares with it as well
  BlockTimes* times;         ///< [blocks]
  std::uint32_t*
      sums;  ///< [threads] words of all that an active thread's atomics returned, added up
};

/// The kernel of one instruction, whose PTX without memory order is `ptx`:
/// "atom.gpu.global.add.u32", "red.cta.shared.add.u32", "atom.cluster.shared::cluster.cas.b32".
struct Kernel {
  std::string ptx;
  /// `shared_bytes`: the pattern's window, for shared memory; blocks of shared::cluster run in
  /// pairs, each of which works on the other's memory.
  void (*launch)(const Run&, int blocks, int threads, int shared_bytes, cudaStream_t);
  /// Blocks of so many threads that an SM holds at once.
  int (*resident_blocks)(int threads);
};

/// Throws std::out_of_range for an instruction without a kernel.
const Kernel& find_kernel(const std::string& ptx);

/// Threads of the largest block that a launcher takes.
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

// One list for each source file of kernels.
std::vector<Kernel> global_kernels();
std::vector<Kernel> shared_kernels();

}  // namespace fathom::atomics
