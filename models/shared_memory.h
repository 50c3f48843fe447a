#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

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
  /// Clocks for which the access keeps the SM's data pipe busy: one a wavefront, but at least one
  /// for each group, also for a group without an active lane, which is no wavefront. 8 bytes a lane
  /// in the lower half-warp alone are 1 wavefront and 2 clocks.
  int clocks = 0;
  /// Wavefronts that the distinct words alone would need, 32 to a wavefront. It is below `groups`
  /// where groups read the same words, e.g. 1 against 2 for a 16-byte broadcast.
  int minimum = 0;
};

/// The rule. Its start are claims S2 to S5, which their sources state for loads (NVIDIA developer
/// forum, "Unexpected shared memory bank conflict", for the pairs); what they leave open is from
/// the counters and clocks of an H200, recordings/h200, probe bank_conflicts:
///  - up to 4 bytes per lane: the warp is one group; narrower accesses count by the words they lie
///    in.
///  - 8 bytes: the half-warps are two groups.
///  - 16 bytes: the quarter-warps are four groups.
///  - Loads of 8 and 16 bytes: if over all active lanes of the *warp* lane i and lane i^1 always
///    agree on the address, or lane i and lane i^2 always do (a pair with an inactive lane agrees),
///    the two halves, or the two quarters within each half, are one group. A half-warp whose own
///    pairs agree gains nothing while the other's do not; the halves of a 16-byte load never merge.
///  - Stores never merge.
/// A group costs as many wavefronts as its busiest bank has distinct words; equal words count once.
///
/// Throws std::invalid_argument (see `validate`), also LaneError for an access that ends beyond
/// `shared_address_limit`. No active lane: all zero.
SharedCost shared_cost(const WarpAccess& access);

/// shared_cost(access).wavefronts, for other people's tests: expect(wavefronts(...) == 1).
int wavefronts(const WarpAccess& access);

/// One wavefront: what each bank serves in it.
struct SharedWavefront {
  int first_lane = 0;  ///< of its group, which is `SharedExplanation::group_lanes` long
  std::array<std::uint32_t, shared_banks> lanes{};  ///< mask of lanes served; 0: the bank is idle
  std::array<std::uint32_t, shared_banks> word{};   ///< address / 4 of the word that they get
};

struct SharedExplanation {
  SharedCost cost;
  int group_lanes = warp_size;  ///< lanes that are served together, after merging
  bool merged = false;          ///< pairs of lanes agree, so that groups are twice as long
  std::vector<SharedWavefront> wavefronts;  ///< group by group, cost.wavefronts of them
  std::string sentence;                     ///< why the access costs what it does
};

/// How the cost comes about. The number of wavefronts is the hardware's; which of a bank's words
/// goes first is not observable by the counters, and here it is that of the lowest lane.
SharedExplanation explain_shared(const WarpAccess& access);

/// Lines of text, one a wavefront: which lane gets its word from which bank.
std::string picture(const SharedExplanation& why);

/// Consecutive lanes that form a group before merging: 32, 16 or 8. Permuting lanes within such a
/// group leaves an unmerged cost as it is.
int shared_group_lanes(int bytes_per_lane);

}  // namespace fathom::models
