#pragma once

#include "gemm/blocks/cluster_parts.cuh"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/multistage_product.cuh"
#include "gemm/blocks/tensor_types.cuh"
#include "gemm/engine_operands.h"
#include "gemm/fp64/fragments.cuh"
#include "gemm/fp64/line_copy.cuh"
#include "gemm/operand_copies.h"

// Small products: small tiles, each of whose k the blocks of a cluster share. In row-major terms.

namespace fathom::gemm::fp64 {

/// A block's tile of M x N, which its warps share as pieces of WarpM x WarpN, in stages of 32 of k.
template <int M, int N, int WarpM, int WarpN, int Stages, int BlocksPerSm>
struct SmallTile {
  static constexpr int m = M, n = N, k = 32, stages = Stages, blocks_per_sm = BlocksPerSm;
  static constexpr int warp_m = WarpM, warp_n = WarpN, threads = M / WarpM * (N / WarpN) * 32;
  /// Eight sums between the rows: two rows of four pairs lie in all banks.
  using Exchange = ExchangedSums<double, M, N, 8>;
  static constexpr int ring_bytes = Stages * (M + N) * k * 8;
  static constexpr int shared_bytes(int parts) {
    return ring_bytes + (parts > 1 ? Exchange::bytes : 0);
  }
};

/// A warp's piece of a tile, for `multistage_sums`.
template <class Tile, Major a_major, Major b_major>
class SmallWarpTile {
  static constexpr bool paired = a_major == Major::outer && b_major == Major::k;
  static constexpr int rows = Tile::warp_m / 16, columns = Tile::warp_n / 8;
  static_assert(columns % 2 == 0);

 public:
  using CopyA = LineCopy<Tile::m, Tile::k, Tile::threads, a_major>;
  using CopyB = LineCopy<Tile::n, Tile::k, Tile::threads, b_major>;
  static constexpr int steps = Tile::k / stage_depth;

  /// What 16 of k take.
  struct Fragment {
    double a[rows][8], b[columns][4];
  };

  __device__ SmallWarpTile() : SmallWarpTile(warp_place<Tile>()) {}

  __device__ void read(Fragment& f, std::uint32_t tile_a, std::uint32_t tile_b, int step) const {
#pragma unroll
    for (int i = 0; i < rows; ++i) a_.load(tile_a + step * Tile::m * line_bytes, i, f.a[i]);
#pragma unroll
    for (int j = 0; j < columns; ++j) b_.load(tile_b + step * Tile::n * line_bytes, j, f.b[j]);
  }

  __device__ void add(const Fragment& f) {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int j = 0; j < columns; ++j) multiply_16x8x16(sums_[i][j], f.a[i], f.b[j]);
    }
  }

  /// Calls `use` with the place in the block's tile of each two neighbours of a row, and their
  /// sums.
  template <class Use>
  __device__ void each_pair(Use&& use) const {
    // Of A along the outer dimension a lane has neighbouring rows, else rows eight apart.
    constexpr int row_of_lane = a_major == Major::outer ? 2 : 1,
                  next_row = a_major == Major::outer ? 1 : 8;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = place_.m + i * 16 + lane / 4 * row_of_lane + half * next_row;
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          const double pair[2] = {sums_[i][j][2 * half], sums_[i][j][2 * half + 1]};
          use(row, place_.n + j * 8 + lane % 4 * 2, pair);
        }
      }
    }
  }

 private:
  __device__ explicit SmallWarpTile(gemm::WarpPlace place)
      : place_(place), a_(place.m, false), b_(place.n, false) {}

  gemm::WarpPlace place_;
  LaneOfA<a_major, paired> a_;
  LaneOfB<b_major, paired> b_;
  double sums_[rows][columns][4] = {};
};

/// Blocks that follow each other are the parts of a tile's k, and a cluster. `vectors`: C's lines
/// start on 16 bytes.
template <class Tile, Major a, Major b>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    small_product(const __grid_constant__ Product<double> p, int tiles_m, bool vectors) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using WarpTile = SmallWarpTile<Tile, a, b>;
  extern __shared__ __align__(128) std::byte shared[];
  const ClusterPart part;
  part.show_up();
  const int tile = static_cast<int>(blockIdx.x / static_cast<unsigned>(part.count));
  const int row = tile % tiles_m * Tile::m, column = tile / tiles_m * Tile::n;
  const int stages = (p.k + Tile::k - 1) / Tile::k;
  const int first_k = part.begin(stages, part.rank) * Tile::k;
  const int end_k = min(p.k, part.begin(stages, part.rank + 1) * Tile::k);
  typename WarpTile::CopyA copy_a(p.a.data, a == Major::k ? p.a.row_stride : p.a.column_stride, row,
                                  p.m, first_k);
  typename WarpTile::CopyB copy_b(p.b.data, b == Major::k ? p.b.column_stride : p.b.row_stride,
                                  column, p.n, first_k);
  WarpTile warp_tile;
  const std::uint32_t ring = shared_address(shared);
  await_kernel_before(copy_a.source(), copy_b.source());
  multistage_sums<WarpTile, Tile>(warp_tile, copy_a, copy_b, end_k - first_k, ring);
  const auto store = [&](int r, int c, const double(&sums)[2]) {
    r += row, c += column;
    if (r >= p.m) return;
    if (vectors && c + 2 <= p.n) return store_vector(p, r, c, sums);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (c + i < p.n) store_element(p, r, c + i, sums[i]);
    }
  };
  if (part.count == 1) {
    warp_tile.each_pair(store);
    return;
  }
  const typename Tile::Exchange exchange(ring + Tile::ring_bytes, part);
  part.wait_for_all();
  warp_tile.each_pair([&](int r, int c, const double(&sums)[2]) { exchange.send(r, c, sums); });
  part.meet();
  exchange.template add_up<Tile::threads, 2>(store);
#endif
}

/// Whether the operands' lines start on 16 bytes.
inline bool takes_small(const Problem& p) {
  return EngineOperands::copy_bytes(p, MajorsTaken{}) == 0;
}

/// Launches such a product in so many parts of k.
template <class Tile>
void launch_small(const Arguments& arguments, int parts, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const auto p = row_major<double>(arguments);
  const TileGrid tiles(p.m, p.n, Tile::m, Tile::n);
  const bool vectors = columns_aligned(arguments.problem.ldc, Element::f64, 16);
  const EngineOperands operands = EngineOperands::of(arguments);
  const auto launch_as = [&]<Major a, Major b>() {
    if (operands.a.major != a || operands.b.major != b) return;
    launch_cluster(&small_product<Tile, a, b>,
                   {static_cast<int>(tiles.blocks()) * parts, Tile::threads,
                    Tile::shared_bytes(parts), parts, stream, true},
                   p, tiles.tiles_m, vectors);
  };
  launch_as.template operator()<Major::k, Major::k>();
  launch_as.template operator()<Major::k, Major::outer>();
  launch_as.template operator()<Major::outer, Major::k>();
  launch_as.template operator()<Major::outer, Major::outer>();
}

}  // namespace fathom::gemm::fp64
