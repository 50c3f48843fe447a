#pragma once

#include "gemm/blocks/named_barrier.cuh"
#include "gemm/blocks/register_epilogue.cuh"
#include "gemm/blocks/register_sums.cuh"
#include "gemm/blocks/specialised_launch.cuh"

// The warp-specialised product with its first operand through registers.

namespace fathom::gemm {

/// Registers of a thread that loads and of one that multiplies (gemm/blocks/specialised_product.cuh):
/// the operand on its way takes what the loading threads can do without.
inline constexpr int register_product_loading = 24, register_product_multiplying = 240;

template <RegisterDesign d>
constexpr int register_product_shared_bytes() {
  constexpr Design ring = d.ring();
  return 1024 + TileRing<ring>::bytes + TileRing<ring>::barrier_bytes;
}

/// Keeps a warp's sums in a tile of them at `tile`, to be added to other blocks'; zeros if it has
/// none.
template <Major major, int Columns>
__device__ inline void keep_block(std::uint32_t tile,
                                          const std::uint32_t (&sums)[Columns / 2], int first_row) {
  const int lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32 % 4;
#pragma unroll
  for (int i = 0; i < Columns / 2; i += 2) {
    const int r = first_row + row_in_block<major>(warp, lane, i % 4 / 2),
              c = i / 4 * 8 + lane % 4 * 2;
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(tile + (r * partial_pitch<Columns> + c) * 4),
                 "r"(sums[i]), "r"(sums[i + 1])
                 : "memory");
  }
}

/// A warpgroup's tiles: multiplied and, but for a split k, stored.
template <Major major, RegisterDesign d>
__device__ inline void multiply_register_tiles(const TiledProduct<float, float>& p,
                                               const RegisterSource<d>& source) {
  constexpr Design ring = d.ring();
  const DepthRange range = depth_range<ring>(p, source.place);
  RingPosition<d.stages> position;
  std::uint32_t sums[d.columns / 2];
#pragma unroll
  for (std::uint32_t& sum : sums) sum = 0;
  // The compiler would set a known value just before the first product reads it, between products
  // that are under way.
  sums_are_ready(sums);
  for (TileWalk<ring> walk(p); !walk.done(); walk.advance()) {
    const TileIndex corner = walk.corner(p, source.place);
    const int first_row = source.warpgroup * block_side;
    if (corner.m + first_row >= p.m) {
      source.pass(position, range.count);
    } else if constexpr (d.three_products) {
      accumulate_fp32<major, d>(source, position, range.count, sums);
    } else {
      accumulate_tf32<major, d>(source, position, range.count, sums);
    }
    if constexpr (d.split_k > 1) {
      named_barrier(1, ring.consumers * 128);  // both warpgroups have read the ring
      keep_block<major, d.columns>(source.ring.tiles, sums, first_row);
      return;
    } else {
      store_block<major>(p, sums, corner.m + first_row, corner.n / d.planes());
    }
  }
}

/// `Config` has the RegisterDesign `design` and the Major of its first operand, `major`. The columns
/// of p.map_b are those of all planes, tile by tile.
template <class Config>
__global__ void __launch_bounds__(Config::design.ring().threads(), 1)
    register_product(const __grid_constant__ TiledProduct<float, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr RegisterDesign d = Config::design;
  constexpr Design ring_design = d.ring(), sums_design = d.sums();
  extern __shared__ std::byte shared[];
  if constexpr (d.leaves_rest) asm volatile("griddepcontrol.launch_dependents;");
  const ClusterPlace<ring_design> place;
  TileRing<ring_design> ring;
  ring.tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  ring.barriers = ring.tiles + TileRing<ring_design>::bytes;
  if (threadIdx.x == 0) ring.init(4 * ring_design.consumers * ring_design.sharing());
  if constexpr (ring_design.cluster() == 1) {
    __syncthreads();
  } else {
    cluster_sync();
  }

  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == ring_design.consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(register_product_loading));
    if (threadIdx.x % 128 == 0)
      load_tiles<float, ring_design, Config::major, Major::k>(p, ring, place);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(register_product_multiplying));
    multiply_register_tiles<Config::major, d>(p, {ring, place, group});
  }

  // No block ends while another of its cluster may still arrive at its barriers or read its sums.
  if constexpr (ring_design.cluster() > 1) cluster_sync();
  if constexpr (d.split_k > 1) {
    if (group < ring_design.consumers) {
      const TileWalk<ring_design> walk(p);
      TileIndex corner = walk.corner(p, place);
      corner.n /= d.planes();
      if (!walk.done())
        store_cluster_sum<sums_design>(p, ring.tiles, ClusterPlace<sums_design>(), corner);
    }
    cluster_sync();
  }
  // What comes after the kernel of the rest waits for it alone: so it ends last.
  if constexpr (ring_design.parent() > 1) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <RegisterDesign d>
ClusterLaunch register_launch(cudaStream_t stream) {
  constexpr Design ring = d.ring();
  return {1, ring.threads(), register_product_shared_bytes<d>(), ring.cluster(), stream};
}

}  // namespace fathom::gemm
