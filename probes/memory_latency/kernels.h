#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>

#include "probes/device/launch.h"
#include "probes/memory_latency/chain.h"

namespace fathom::memory_latency {

// Every chase is one thread's: a load's address is what the load before it returned. `mean` times
// from the first load to the last, `each` every load by itself.

enum class Timed { mean, each };

inline constexpr int chase_unroll = 16;       ///< loads of a chase are a multiple of it
inline constexpr int max_timed_loads = 1024;  ///< of `Timed::each`: its times wait in shared memory
inline constexpr int empty_brackets = 64;
inline constexpr int warm_threads = 1024;
inline constexpr int constant_bytes = 64 * 1024;
inline constexpr std::uint32_t large_page_bytes = 2u << 20;

/// The instruction of a chase through memory that has an address.
enum class GlobalLoad {
  cached,      ///< ld.global: L1 and L2 (.ca written out becomes a scoped load, LDG.STRONG.SM)
  l2_only,     ///< ld.global.cg
  read_only,   ///< ld.global.nc
  system,      ///< ld.global.cv: every load goes to the memory itself, whosever it is
  atomic_add,  ///< atom.global.add of zero
  atomic_cas,  ///< atom.global.cas that never swaps
};
constexpr const char* name_of(GlobalLoad load) {
  constexpr const char* names[] = {"ld.global",    "ld.global.cg",    "ld.global.nc",
                                   "ld.global.cv", "atom.global.add", "atom.global.cas"};
  return names[static_cast<int>(load)];
}

enum class SharedLoad { load, atomic_add, atomic_cas };

/// What a chase wrote. Clocks are the SM's, nanoseconds the GPU's global timer.
struct Report {
  std::uint64_t base;      ///< of the chain, where the kernel placed it (shared memory)
  std::uint64_t end;       ///< address after the last load
  std::uint32_t sum;       ///< of the low words of the addresses loaded from
  std::uint32_t warmed;    ///< no figure: keeps the compiler from dropping the loads that warm up
  std::int64_t clocks;     ///< `mean`: of all timed loads together
  std::uint64_t executed;  ///< of a run of code: additions counted
  std::int64_t clock_begin, clock_end;   ///< of the kernel
  std::uint64_t ns_begin, ns_end;        ///< at the same moments
  std::uint32_t empty[empty_brackets];   ///< `each`: clocks of a bracket without a load
  std::uint32_t times[max_timed_loads];  ///< `each`: clocks of a load's bracket
};

/// Arguments of one chase; pointers to device memory.
struct Chase {
  Chain chain{};
  int loads = 0;         ///< timed; with `each` at most max_timed_loads
  int walked_loads = 0;  ///< by the same thread before that, not timed
  /// Memory chases only: elements that all threads load before, `warm_passes` times over.
  Chain warm{};
  int warm_passes = 0;
  Timed timed = Timed::mean;
  Report* report = nullptr;
};

/// Writes the chain into the memory that `chain.base` points to, 8 bytes an element: the address of
/// the next one. Takes a thread for each.
__global__ void write_chain(Chain chain);

/// Launches a chase whose report is set; owns what it needs.
using LaunchChase = std::function<void(const Chase& chase, cudaStream_t stream)>;

// Chases by one block, and by one thread where nothing else is said.

/// By a block of warm_threads. `carveout_percent`: share of shared memory; 0 leaves the most L1.
LaunchChase global_chase(GlobalLoad load, int carveout_percent);
/// The chain's addresses are indices into a linear texture of 32-bit texels.
LaunchChase texture_chase(const void* texels, std::size_t bytes);
/// A block of fill_threads writes the chain at offset 0 of its dynamic shared memory; its base is
/// reported.
LaunchChase shared_chase(SharedLoad load, int shared_bytes);
inline constexpr int fill_threads = 128;
/// One cluster of `cluster_size` blocks, of which the first chases in the shared memory of block
/// `target`; `Timed::mean` only. The base reported is the lower half of a generic address. From
/// compute capability 9.0 on; elsewhere the kernel is empty.
LaunchChase cluster_chase(SharedLoad load, int shared_bytes, int cluster_size, int target);
/// The largest power of two of blocks that one cluster of the above may have on this GPU, up to 16;
/// 0 before compute capability 9.0.
int largest_cluster(int major, int shared_bytes);

/// Puts `words`, constant_bytes of device memory with a chain whose base is 0, into constant
/// memory; asynchronous. Doing it again leaves the constant caches without them.
void copy_to_constant_memory(const std::uint32_t* words, cudaStream_t stream);
void launch_constant_chase(const Chase& chase, cudaStream_t stream);

/// What a kernel's parameters hold beside its other arguments: of 32,764 bytes (CUDA C++
/// Programming Guide, "Function Parameters", from compute capability 7.0 on) a round number.
inline constexpr int parameter_bytes = 31 * 1024;
/// The chain, whose base is 0, lies in the kernel's parameters.
LaunchChase parameter_chase(const Chain& chain);

/// Straight-line code is in blocks, sixteen bytes an instruction (Volta and later). Two
/// instructions of a block compare and leave after the last block wanted; each of the others adds 1
/// to one of eight sums, which so count what was executed.
inline constexpr int code_block_bytes = 1024;
inline constexpr int code_block_instructions = code_block_bytes / 16;
inline constexpr int code_block_sums = code_block_instructions - 2;
inline constexpr int most_code_blocks = 256;

/// Rounds of straight-line code and then of loads from constant memory, by one thread: what of both
/// fits a cache together is not fetched again in the next round. A chain of no elements, or no
/// blocks, leave that part out.
struct CodeRun {
  int blocks = 0;  ///< of code_block_bytes, at most most_code_blocks
  Chain constants;
  int warm_rounds = 1, rounds = 1;  ///< after two rounds of a single block
  /// clocks: of all loads in the timed rounds, or, if there are none, of the code beyond its first
  /// block; end: the address after the last load.
  Report* report = nullptr;
};
__global__ void run_code_and_constants(CodeRun run, float one);

}  // namespace fathom::memory_latency
