#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "probes/memory_latency/chain.h"

namespace fathom::topology {

// A kernel that measures runs one block on each SM, since each asks for more than half of an SM's
// shared memory. The block on the SM that the host names, by %smid, does the work.

inline constexpr int latency_threads = 128;
inline constexpr int empty_brackets = 64;
inline constexpr std::uint32_t max_lines = 512;
inline constexpr int max_repeats = 16;
inline constexpr int warm_passes = 2;
inline constexpr std::uint32_t line_bytes = 128;
/// Longest wait for another SM: about a quarter of a second, and never reached where all blocks
/// are resident.
inline constexpr std::int64_t patience_clocks = std::int64_t{1} << 29;

/// How an SM asks the L2 for a line. An atomic is done where the line's home is; a load may find a
/// copy that is nearer.
enum class LineAccess { load, atomic_add };

/// Lines spread over a region: line i is at a hashed place within the i-th of equal strides.
struct Lines {
  std::byte* base = nullptr;
  std::uint32_t count = 0;   ///< at most max_lines
  std::uint64_t stride = 0;  ///< multiple of line_bytes
  std::uint32_t seed = 0;
};

__host__ __device__ constexpr std::uint64_t line_offset(const Lines& lines, std::uint32_t i) {
  const auto slots = static_cast<std::uint32_t>(lines.stride / line_bytes);
  return i * lines.stride +
         std::uint64_t{memory_latency::mixed(i + lines.seed) % slots} * line_bytes;
}

/// What the first word of line i holds.
__host__ __device__ constexpr std::uint32_t line_value(const Lines& lines, std::uint32_t i) {
  return memory_latency::mixed(i ^ ~lines.seed);
}

struct LineReport {
  std::uint32_t taken;  ///< blocks that ran on the SM; 0 before the launch
  std::uint32_t smid;
  std::uint32_t sum;                    ///< of the words of all timed accesses
  std::uint32_t empty[empty_brackets];  ///< clocks of a bracket without an access
  /// Clocks of repeat r's access to line i: [r * count + i].
  std::uint32_t times[max_lines * max_repeats];
};

struct LineTask {
  Lines lines;
  int repeats = 0;         ///< at most max_repeats
  std::uint32_t smid = 0;  ///< the SM that measures
  LineReport* report = nullptr;
};

/// Puts line_value into each line, by a thread for each.
__global__ void write_lines(Lines lines);

/// Single accesses from one SM to each line in turn, all over `repeats` times, after warm_passes of
/// all of them; the other SMs are idle. `report->taken` must be 0. Takes latency_threads.
void (*line_kernel(LineAccess access))(LineTask, std::uint32_t zero);

struct Placement {
  std::uint32_t smid;
  std::uint32_t cluster;  ///< %clusterid: blocks with the same one share distributed shared memory
};

/// Clusters of `cluster_size` blocks, from compute capability 9.0 on. Each block stays for a
/// pseudo-random time of less than `spread_clocks`: with some spread clusters find ever other SMs
/// free.
struct ClusterTask {
  int cluster_size = 2;
  int blocks = 0;                   ///< multiple of cluster_size
  int shared_bytes = 0;             ///< of a block: decides how many share an SM
  std::uint32_t spread_clocks = 1;  ///< at least 1
  std::uint32_t seed = 0;
  Placement* placements = nullptr;  ///< one for each block
};

/// To be launched in such clusters.
__global__ void record_placement(ClusterTask task);

}  // namespace fathom::topology
