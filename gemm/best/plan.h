#pragma once

#include <algorithm>
#include <cstdint>

#include "gemm/bench/rung.h"

namespace fathom::gemm {

/// A contender of compute capability 9.0 alone, as code for wgmma, TMA and clusters is. `plan` is
/// asked of products that multiply: C = beta C is the fallback's, which then reads neither A nor B.
Rung hopper_contender(Class of, const char* name, RungPlan (*plan)(const Problem&, int sms));

/// Whether a kernel of a tile whose one side may be the small one takes the product as BLAS states
/// it rather than in row-major terms, so that the small side is its columns.
inline bool small_side_is_n(const Problem& p) { return p.n < p.m; }

/// Most columns of the small side for which the narrow shapes are meant.
inline constexpr std::int64_t most_skinny = 128;

inline bool is_skinny(const Problem& p) { return std::min(p.m, p.n) <= most_skinny; }

/// Whether tiles of 128 x 128, of each of which two blocks share k, are done sooner on so many SMs
/// than tiles of 128 x 256 in clusters of two: estimated in waves of blocks, one an SM, times the
/// clocks of a block. At 1024³ 32 wide tiles leave three of four SMs without work.
bool halves_of_small_tiles_are_sooner(const Problem& problem, int sms);

}  // namespace fathom::gemm
