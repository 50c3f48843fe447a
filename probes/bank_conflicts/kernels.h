#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/warp_access.h"

namespace fathom::bank_conflicts {

// Geometry of the kernels, known to the model too. Access k of an iteration is 128 k bytes above
// the lane's own offset, and iterations walk through four windows of 2 KiB: every access has the
// pattern's banks, and none repeats the one before it, which the compiler would merge.
inline constexpr int warps_per_block = 16;
inline constexpr int threads_per_block = warps_per_block * 32;
inline constexpr int accesses_per_iteration = 16;
inline constexpr int access_step_bytes = 128;
inline constexpr int windows = 4;
inline constexpr int window_bytes = accesses_per_iteration * access_step_bytes;
inline constexpr int region_bytes = 16 * 1024;
inline constexpr int region_words = region_bytes / 4;
/// Plain 4-byte stores with which a warp fills its share of the region before the timed part.
inline constexpr int fill_stores_per_warp = region_words / threads_per_block;

/// What the region holds at word `index` before loads, and what stores put there.
__host__ __device__ constexpr std::uint32_t word_value(std::uint32_t index) {
  return index + 0x9E3779B9u;
}

/// Pointers to device memory.
struct Run {
  const std::uint32_t* lane_offsets;  ///< 32 byte offsets into the region
  std::uint32_t active_mask;
  int iterations;
  long long* clocks;   ///< [blocks][warps][2]: clock64 before and after the accesses
  std::uint32_t* out;  ///< loads: [blocks][threads] sum of the words read (0 for inactive lanes);
                       ///< stores: [blocks][region_words] the region afterwards
  /// How many of a block's warps make the accesses; the others fill the region and read it back.
  int warps = warps_per_block;
};

/// `bytes` per lane: 4, 8 or 16. To be launched with blocks of `threads_per_block`. That of stores
/// fills the region with 0xFFFFFFFF first.
using Kernel = void (*)(Run);
Kernel kernel_of(models::Access op, int bytes);

/// One pattern of the sweep; `access.address` are offsets into the kernels' region.
struct Pattern {
  std::string family;  ///< "stride", "broadcast", "pairs", "column", ...
  std::string name;    ///< unique for its width and operation: "stride:2", "column:padded"
  models::WarpAccess access;
  int stride_words = 0;  ///< of the family "stride", else 0
  bool quick = false;    ///< in the quick suite too
};

/// `bytes`: 4, 8 or 16 a lane.
std::vector<Pattern> patterns(models::Access op, int bytes);

/// Wavefronts of one access as claims S2 to S5 have it, for stores as for loads: what is put to the
/// test. The model (models/shared_memory.h) says the same of loads, and other than that of stores.
int claimed_wavefronts(models::WarpAccess access);

/// Holds what one launch wrote (Run::out) against what it must have written; nothing, or the first
/// difference in words. `iterations` is a multiple of `windows`, and the first `warps` warps of
/// each block made the accesses.
std::optional<std::string> check_output(const models::WarpAccess& access, int iterations,
                                        std::span<const std::uint32_t> out, int warps);

}  // namespace fathom::bank_conflicts
