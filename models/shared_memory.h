#pragma once

#include <cstdint>

#include "models/warp_access.h"

namespace fathom::models {

/// Shared memory has 32 banks of 4 bytes; 128 bytes leave it per clock and SM (CUDA C++
/// Programming Guide, "Shared Memory"; claim S1). Turing moves half of that, see SmLimits.
inline constexpr int shared_banks = 32;
inline constexpr int shared_bank_bytes = 4;
inline constexpr std::uint64_t shared_address_limit = 228 * 1024;  ///< largest SM's shared memory

/// What one warp instruction on shared memory costs, as the L1 data stage counts it.
struct SharedCost {
  /// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum
  int wavefronts = 0;
  /// l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{ld,st}.sum: the wavefronts beyond the first
  /// of each group of lanes that the hardware serves together. This is how claim S6 reads where it
  /// matters: 64 consecutive words by 8-byte accesses are two groups, two wavefronts, no conflict.
  int conflicts = 0;
  /// Groups with an active lane, after merging.
  int groups = 0;
  /// Wavefronts that the distinct words alone would need, 32 to a wavefront. It is below `groups`
  /// where groups read the same words, e.g. 1 against 2 for a 16-byte broadcast.
  int minimum = 0;
};

/// The rule, stated by its sources for loads (claims S2 to S5; NVIDIA developer forum, "Unexpected
/// shared memory bank conflict", for the pairs):
///  - up to 4 bytes per lane: the warp is one group; narrower accesses count by the words they lie
///    in.
///  - 8 bytes: the half-warps are two groups; they merge into one if over the active lanes lane i
///    and lane i^1 always agree on the address, or lane i and lane i^2 always do. A pair with an
///    inactive lane agrees.
///  - 16 bytes: the quarter-warps are four groups; within each half-warp the same condition, over
///    that half-warp's active lanes, merges its two quarters. Half-warps never merge.
/// A group costs as many wavefronts as its busiest bank has distinct words; equal words count once.
/// Groups that would cost no less merged stay apart, which decides only what counts as a conflict:
/// in claim S7 each half-warp broadcasts its own double, both from the same bank; that is two
/// wavefronts either way, and reported as no conflict.
///
/// Stores: the same grouping and merging is a *hypothesis*, as is that lanes storing to the same
/// word count as one. The sources explain merging by the width of the return path, which a store
/// does not use; only the counters can tell.
///
/// Throws std::invalid_argument (see `validate`), also for an access that ends beyond
/// `shared_address_limit`. No active lane: all zero.
SharedCost shared_cost(const WarpAccess& access);

/// Consecutive lanes that form a group before merging: 32, 16 or 8. Permuting lanes within such a
/// group leaves an unmerged cost as it is.
int shared_group_lanes(int bytes_per_lane);

}  // namespace fathom::models
