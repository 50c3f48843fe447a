#pragma once

#include <cuda_fp16.h>

#include <type_traits>

namespace fathom::gemm {

/// Whether the chip that is compiled for multiplies matrices of this 16-bit type: fp16 from sm_75
/// on, bf16 from sm_80 on. A kernel for another is compiled empty, and never launched.
template <class Element>
inline constexpr bool has_matrix_products =
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    std::is_same_v<Element, __half>;
#else
    true;
#endif

/// First row and column of this warp's part of a block's tile; neighbouring warps have neighbouring
/// columns.
struct WarpPlace {
  int m, n;
};
template <class Tile>
__device__ WarpPlace warp_place() {
  constexpr int warps_n = Tile::n / Tile::warp_n;
  static_assert(Tile::m / Tile::warp_m * warps_n * 32 == Tile::threads);
  // The same in all lanes, and known to be.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  return {warp / warps_n * Tile::warp_m, warp % warps_n * Tile::warp_n};
}

}  // namespace fathom::gemm
