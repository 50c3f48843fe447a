#pragma once

#include <vector>

#include "probes/warp_reduce/sum_kernels.h"

namespace fathom {
struct Case;
struct DeviceFacts;
}  // namespace fathom

namespace fathom::warp_reduce {

/// Ways to add up the 32 values of a warp.
enum class WarpMethod {
  shuffle_xor,       ///< five exchanges with lane ^ distance: every lane gets the sum
  shuffle_down,      ///< five exchanges with lane + distance: lane 0 gets it
  reduce_add,        ///< the integer reduction instruction, compute capability 8.0 and newer
  shared_tree,       ///< through shared memory, half as many lanes each step
  shared_butterfly,  ///< through shared memory, every lane at each step: no branch, no re-read
};

/// Reductions between two renormalisations, which keep a repeated sum from overflowing: each
/// multiplies the values by up to 32. They are one multiplication (a shift) by an exact power of
/// two in the chain, at most a fourth of an addition's latency a reduction.
__host__ __device__ constexpr int reductions_per_round(Element type) {
  return type == Element::i32 ? 4 : 16;
}

/// Independent reductions that a warp has in flight.
inline constexpr int max_chains = 2;

/// What lane `lane` starts its chain `chain` with: small integers, exact in every type.
__host__ __device__ constexpr int start_value(int lane, int chain) {
  return (lane * 7 + chain * 11) % 29;
}

struct WarpStage {
  WarpMethod method;
  Element type;  ///< f32, i32 or f64
  int warps;     ///< of the one block per SM, at most 32
  int chains;    ///< 1 or max_chains
  int rounds;

  bool shuffles() const {
    return method == WarpMethod::shuffle_xor || method == WarpMethod::shuffle_down;
  }
  bool in_shared() const {
    return method == WarpMethod::shared_tree || method == WarpMethod::shared_butterfly;
  }
};

/// Writes to `clocks` [blocks][warps][2] clock64 before and after, and to `out`
/// [blocks][warps][chains][32 lanes] of the type.
void launch_warp_stage(const WarpStage& stage, int blocks, long long* clocks, std::byte* out,
                       cudaStream_t stream);

/// R3: adds up blocks of so many floats each, by the published block stage or by the same with its
/// mistake mended.
inline constexpr int block_stage_threads = 256;
void launch_block_stage(bool published, const float* source, float* sums, int blocks,
                        cudaStream_t stream);

/// Clocks of one warp's reduction (claim R2), and how often the block stage is wrong (R3).
std::vector<Case> warp_stage_cases(const DeviceFacts& device);
std::vector<Case> block_stage_cases(const DeviceFacts& device);

}  // namespace fathom::warp_reduce
