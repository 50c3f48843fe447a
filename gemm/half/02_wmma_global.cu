// The tensor cores by way of nvcuda::wmma, straight from global memory (claim G5): a warp computes 16 x 16
// of C, and loads 16 x 16 of each operand for each 16 of k: 4096 multiplications for two fragments, 8 of
// each element. A fragment's rows are 32 bytes, one or two sectors of a line each, so that the L1 looks
// up 16 lines for it: at one line a clock the tensor cores of an SM get the 4096 multiplications every
// 32 clocks that they do in 2 to 4, a tenth of their peak, before any latency.

#include "gemm/blocks/staged_rows.cuh"
#include "gemm/blocks/tile_order.cuh"
#include "gemm/blocks/wmma_tile.cuh"
#include "gemm/half/rungs.h"
#include "gemm/half/slower_path.h"
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

/// Whole fragments whose rows start on 32 bytes, as wmma wants them; its leading dimension is an unsigned.
bool takes(const Problem& p) {
  constexpr std::int64_t largest_stride = std::int64_t{1} << 31;
  return p.m % wmma_side == 0 && p.n % wmma_side == 0 && p.k % wmma_side == 0 &&
         EngineOperands::copy_bytes(p, MajorsTaken{}) == 0 && p.lda < largest_stride &&
         p.ldb < largest_stride;
}

template <class Element>
void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (!takes(arguments.problem)) return launch_slower_path(arguments, stream);
  launch_tile_rung<Kernels, Element>(arguments, workspace, stream);
}

template <class Element>
Rung rung_of(Class of) {
  Rung rung = tile_rung<Kernels, Element>(of, "02_wmma_global");
  rung.idea =
      "Tensor cores by nvcuda::wmma: a warp multiplies 16 x 16 x 16 at a time, loaded straight from global "
      "memory.";
  rung.gain =
      "4096 multiplications an instruction pair instead of 32; but only 8 for each element that a warp "
      "loads, and the L1 looks up a line for each row of a fragment: that is what it waits for.";
  rung.claims = {"G5"};
  rung.takes_own_path = &takes;
  rung.launch = &launch<Element>;
  return rung;
}

}  // namespace

Rung wmma_global(Class of) {
  return of == Class::fp16 ? rung_of<__half>(of) : rung_of<__nv_bfloat16>(of);
}

}  // namespace fathom::gemm::half
