#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/warp_access.h"

namespace fathom::model_validation {

/// Addresses of a pattern stay below this, its last byte included. Shared memory: what a block of
/// any GPU may have without asking. Global: far enough for lanes to lie in pages of 64 KiB.
inline constexpr std::uint64_t shared_region_bytes = 32 * 1024;
inline constexpr std::uint64_t global_region_bytes = 1024 * 1024;

enum class Space { shared, global };
constexpr std::uint64_t region_bytes(Space space) {
  return space == Space::shared ? shared_region_bytes : global_region_bytes;
}

inline constexpr int lanes = 32;
inline constexpr int words_per_lane = 4;  ///< of the widest access

/// One memory instruction of one warp. Kernels take it by value: it comes from the constant bank,
/// so that no counter of shared or global memory sees how the addresses got there.
struct Trial {
  std::uint32_t offset[lanes];  ///< bytes from the region's start
  std::uint32_t active_mask;
  /// Words of the shared-memory region to be filled first: all of them to check what the
  /// instruction does, 0 to count it.
  std::uint32_t fill_words;
  std::byte* region;   ///< in global memory; unused by the kernels of shared memory
  std::uint32_t* out;  ///< `Found` of this trial, or null: then nothing but the instruction is done
};

/// What the check of one trial leaves, in words: what each lane read (of a store: read back), 4
/// words a lane, `untouched` where the lane is inactive or the access narrower; then 32 counts,
/// whose sum is the number of bytes of the region that the instruction wrote. A shared-memory or
/// load trial without an active lane leaves all of them as they were.
inline constexpr int found_values = lanes * words_per_lane;
inline constexpr int found_words = found_values + lanes;
inline constexpr std::uint32_t untouched = 0xFFFFFFFFu;

/// What loads find at word `index` of the region, and what stores put there: lanes that meet in one
/// place agree on it. Its bytes tell places apart, and none is 0xFF, with which the region is
/// filled before stores.
__host__ __device__ constexpr std::uint32_t word_value(std::uint32_t index) {
  return (index + 1) * 0x9E3779B1u & 0x7F7F7F7Fu;
}

/// The instruction under test, or nothing if no lane is active: one warp, `bytes` (1, 2, 4, 8 or
/// 16) per lane.
void launch_access(Space space, models::Access op, int bytes, const Trial& trial,
                   cudaStream_t stream);

/// After a global store: writes what is found in `trial.out`, and 0xFF over the whole region.
void launch_global_check(int bytes, const Trial& trial, cudaStream_t stream);

/// Kernels that differ in what occupancy depends on: registers and static shared memory. The probe
/// only asks about them. `memory`: one word, 0.
using Occupant = void (*)(volatile unsigned* memory);
extern const std::array<Occupant, 16> occupants;

}  // namespace fathom::model_validation
