// The tensor cores by way of nvcuda::wmma, straight from global memory (claim G5): a warp computes
// 16 x 16 of C, and loads 16 x 16 of each operand for each 16 of k: 4096 multiplications for two
// fragments, 8 of each element. A fragment is four loads of 4 bytes a lane, each of eight rows and
// of half a sector of each, so that the L1 looks up 64 lines for the 4096 multiplications. At one
// line a clock that is 64 multiplications a clock and SM, 33 TFLOP/s on an H200 at 1980 MHz: less
// than the FMA units of rung 01 do, and it measured 27.8 at 4096 cubed, with 1,073,741,824 sectors
// of loads, m n k / 64.

#include "gemm/blocks/staged_rows.cuh"
#include "gemm/blocks/tile_order.cuh"
#include "gemm/blocks/wmma_tile.cuh"
#include "gemm/half/fallback.h"
#include "gemm/half/rungs.h"
#include "gemm/half/tile_rung.cuh"

namespace fathom::gemm::half {
namespace {

/// Sixteen warps, which find what their neighbours load in the L1.
struct GlobalTile {
  static constexpr int m = 64, n = 64, k = wmma_side, threads = 512;
  static constexpr int warp_m = wmma_side, warp_n = wmma_side;
};
using Rows = StagedRows<wmma_side>;

template <class Element, Major a_major, Major b_major>
__global__ void __launch_bounds__(GlobalTile::threads)
    wmma_global_product(HalfProduct<Element> p, int tiles_m, int tiles_n, bool vectors) {
  if constexpr (has_matrix_products<Element>) {
    extern __shared__ uint4 shared[];
    const TileIndex tile = banded_tile<8>(static_cast<int>(blockIdx.x), tiles_m, tiles_n);
    const WarpPlace place = warp_place<GlobalTile>();
    const int row = tile.m * GlobalTile::m + place.m, column = tile.n * GlobalTile::n + place.n;
    if (row >= p.m || column >= p.n) return;
    const std::int64_t stride_a = a_major == Major::k ? p.a.row_stride : p.a.column_stride;
    const std::int64_t stride_b = b_major == Major::k ? p.b.column_stride : p.b.row_stride;
    const Element* from_a = &p.a(row, 0);
    const Element* from_b = &p.b(0, column);
    WmmaSums sums;
    nvcuda::wmma::fill_fragment(sums, 0.0f);
    for (int k = 0; k < p.k; k += wmma_side) {
      WmmaA<Element, a_major> a;
      WmmaB<Element, b_major> b;
      nvcuda::wmma::load_matrix_sync(a, from_a, static_cast<unsigned>(stride_a));
      nvcuda::wmma::load_matrix_sync(b, from_b, static_cast<unsigned>(stride_b));
      nvcuda::wmma::mma_sync(sums, a, b, sums);
      from_a += wmma_side * p.a.column_stride;
      from_b += wmma_side * p.b.row_stride;
    }
    float* const staged =
        reinterpret_cast<float*>(shared) + static_cast<int>(threadIdx.x) / 32 * Rows::floats;
    nvcuda::wmma::store_matrix_sync(staged, sums, Rows::pitch, nvcuda::wmma::mem_row_major);
    Rows::store(staged, p, row, column, vectors);
  }
}

struct Kernels {
  using Tile = GlobalTile;
  template <class Element, Major a, Major b>
  static auto function() {
    return &wmma_global_product<Element, a, b>;
  }
  template <class Element, Major a, Major b>
  static constexpr int shared_bytes() {
    return GlobalTile::threads / 32 * Rows::bytes;
  }
};

/// Whole fragments, of whose lines wmma wants each on 16 bytes. Their starts, which it wants on 32,
/// are then 16 lines or 32 bytes of one apart.
bool takes(const Problem& p) {
  return p.m % wmma_side == 0 && p.n % wmma_side == 0 && p.k % wmma_side == 0 &&
         TmaOperands::copy_bytes(p, MajorsTaken{}) == 0;
}

template <class Element>
void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (!takes(arguments.problem)) return launch_fallback(arguments, stream);
  launch_tile_rung<Kernels, Element>(arguments, workspace, stream);
}

template <class Element>
Rung rung_of(Class of) {
  Rung rung = tile_rung<Kernels, Element>(of, "02_wmma_global");
  rung.idea =
      "Tensor cores by nvcuda::wmma: a warp multiplies 16 x 16 x 16 at a time, loaded straight "
      "from global memory.";
  rung.gain =
      "4096 multiplications an instruction pair; but only 8 for each element that a warp loads, "
      "and the L1 looks up 64 lines for them: that is what it waits for.";
  rung.claims = {"G5"};
  rung.takes_own_path = &takes;
  rung.launch = &launch<Element>;
  rung.counters = [](const Problem& p, int capability) {
    constexpr double side = wmma_side;
    const double fragments = p.flops() / 2 / (side * side * side);
    return std::vector{tensor_instructions(fragments, capability)};
  };
  return rung;
}

}  // namespace

Rung wmma_global(Class of) {
  return of == Class::fp16 ? rung_of<__half>(of) : rung_of<__nv_bfloat16>(of);
}

}  // namespace fathom::gemm::half
