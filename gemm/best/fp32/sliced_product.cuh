#pragma once

#include "gemm/best/tma_operands.h"
#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/thread_tile.cuh"
#include "gemm/blocks/tma.cuh"
#include "harness/cuda_check.h"

// A product of few columns: a block has a tile as wide as C and the whole of k, and its warps take
// turns along k, each with sums of the whole tile, which are added up in shared memory at the end.

namespace fathom::gemm::fp32 {

/// Loads four floats from a 16-byte aligned shared-memory address. Stays where it is among barriers
/// and other such loads.
__device__ inline void load_vector(float (&to)[4], std::uint32_t address) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address));
}

/// A tile of 8 LanesM rows by N columns. A stage has Boxes x 32 of k; of its words of four k, warp
/// w takes w, w + Warps and so on.
template <int N, int LanesM, int Warps, int Boxes, int Stages>
struct SlicedTile {
  static constexpr int lanes_m = LanesM, lanes_n = 32 / LanesM, warps = Warps, boxes = Boxes,
                       stages = Stages;
  static constexpr int rows = 8, columns = N / lanes_n;
  static constexpr int m = rows * LanesM, n = N, box_k = 32, k = box_k * Boxes;
  static constexpr int box_bytes = m * box_k * 4, b_offset = Boxes * box_bytes;
  static constexpr int stage_bytes = b_offset + k * N * 4;
  static constexpr int threads = 32 * (Warps + 1);
  static constexpr int shared_bytes = 1024 + Stages * stage_bytes + 16 * Stages;
  static_assert(columns % 4 == 0 && k / 4 % Warps == 0 && LanesM % 8 == 0 &&
                shared_bytes <= 227 * 1024);
  static_assert(Warps * m * N * 4 <= Stages * stage_bytes);
};

struct SlicedProduct {
  CUtensorMap map_a, map_b;
  Product<float> product;
  int depth;  ///< stages of k
};

template <class Tile>
__device__ void produce_slices(const SlicedProduct& p, std::uint32_t tiles,
                               std::uint32_t barriers) {
  prefetch_map(p.map_a);
  prefetch_map(p.map_b);
  RingPosition<Tile::stages> position;
  const int row = static_cast<int>(blockIdx.x) * Tile::m;
  for (int i = 0; i < p.depth; ++i) {
    const std::uint32_t stage = tiles + position.stage * Tile::stage_bytes;
    const std::uint32_t full = barriers + 8 * position.stage;
    wait_asleep(full + 8 * Tile::stages, position.parity ^ 1, 100);
    arrive_expect_tx(full, Tile::stage_bytes);
#pragma unroll
    for (int box = 0; box < Tile::boxes; ++box)
      load_box(stage + box * Tile::box_bytes, p.map_a, i * Tile::k + box * Tile::box_k, row, full);
    load_box(stage + Tile::b_offset, p.map_b, 0, i * Tile::k, full);
    position.advance();
  }
}

/// One warp's words of one stage.
template <class Tile>
__device__ void add_slices(std::uint32_t stage, const LanePlace<Tile::lanes_m>& lane, int warp,
                           float (&sums)[Tile::rows][Tile::columns]) {
  const std::uint32_t line = stage + lane.m * Tile::box_k * 4;
#pragma unroll
  for (int w = 0; w < Tile::k / 4; w += Tile::warps) {
    const int word = w + warp;
    const std::uint32_t at = line + word / 8 * Tile::box_bytes + (word % 8 ^ lane.m % 8) * 16;
    float a[Tile::rows][4], b[4][Tile::columns / 4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int j = 0; j < Tile::columns; j += 4) {
        load_vector(b[k][j / 4],
                    stage + Tile::b_offset +
                        ((word * 4 + k) * Tile::n + lane.n * 4 + j * Tile::lanes_n) * 4);
      }
    }
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i)
      load_vector(a[i], at + i * Tile::lanes_m * Tile::box_k * 4);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::columns; ++j)
          sums[i][j] = fmaf(a[i][k], b[k][j / 4][j % 4], sums[i][j]);
      }
    }
  }
}

/// Adds the warps' sums up in order, and stores C.
template <class Tile>
__device__ void store_slices(const SlicedProduct& p, float* tiles,
                             const LanePlace<Tile::lanes_m>& lane, int warp,
                             const float (&sums)[Tile::rows][Tile::columns]) {
  constexpr int tile = Tile::m * Tile::n;
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::columns; j += 4) {
      float* const to = tiles + warp * tile + (lane.m + i * Tile::lanes_m) * Tile::n + lane.n * 4 +
                        j * Tile::lanes_n;
      *reinterpret_cast<float4*>(to) =
          make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
    }
  }
  named_barrier(1, 32 * Tile::warps);
  const int row = static_cast<int>(blockIdx.x) * Tile::m;
  for (int x = static_cast<int>(threadIdx.x); x < tile; x += 32 * Tile::warps) {
    float sum = 0;
#pragma unroll
    for (int other = 0; other < Tile::warps; ++other) sum += tiles[other * tile + x];
    const int r = row + x / Tile::n, c = x % Tile::n;
    if (r < p.product.m && c < p.product.n) store_element(p.product, r, c, sum);
  }
}

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 1)
    sliced_product(const __grid_constant__ SlicedProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const std::uint32_t tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  const std::uint32_t barriers = tiles + Tile::stages * Tile::stage_bytes;
  if (threadIdx.x == 0) {
    for (int i = 0; i < Tile::stages; ++i) {
      barrier_init(barriers + 8 * i, 1);
      barrier_init(barriers + 8 * (Tile::stages + i), Tile::warps);
    }
    barrier_init_fence();
  }
  __syncthreads();
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp == Tile::warps) {
    if (threadIdx.x % 32 == 0) produce_slices<Tile>(p, tiles, barriers);
    return;
  }
  const LanePlace<Tile::lanes_m> lane;
  float sums[Tile::rows][Tile::columns] = {};
  RingPosition<Tile::stages> position;
#pragma unroll 1
  for (int i = 0; i < p.depth; ++i) {
    const std::uint32_t full = barriers + 8 * position.stage;
    wait(full, position.parity);
    add_slices<Tile>(tiles + position.stage * Tile::stage_bytes, lane, warp, sums);
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(full + 8 * Tile::stages);
    position.advance();
  }
  // Nobody reads the ring any more, and all that was to come has come.
  named_barrier(1, 32 * Tile::warps);
  store_slices<Tile>(p, reinterpret_cast<float*>(shared + (tiles - shared_address(shared))), lane,
                     warp, sums);
#endif
}

/// The layout that sliced tiles take: others are copied first.
inline constexpr MajorsTaken sliced_majors{Major::k, Major::outer};

/// Launches a product that is at most Tile::n wide, in row-major terms, and has elements and a
/// depth.
template <class Tile>
void launch_sliced(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const TmaOperands operands =
      TmaOperands::prepared(arguments, sliced_majors, workspace.data, stream);
  SlicedProduct p{};
  p.product = row_major<float>(arguments);
  p.depth = static_cast<int>(ceil_div(p.product.k, Tile::k));
  const TmaOperand &a = operands.a, &b = operands.b;
  p.map_a = tensor_map(a.data, a.element, a.k, a.outer, a.stride, Tile::m);
  p.map_b = plain_tensor_map(b.data, b.element, b.outer, b.k, b.stride, Tile::n, Tile::k);
  FATHOM_CUDA(cudaFuncSetAttribute(
      sliced_product<Tile>, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::shared_bytes));
  const auto blocks = static_cast<unsigned>(ceil_div(p.product.m, Tile::m));
  sliced_product<Tile><<<blocks, Tile::threads, Tile::shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::gemm::fp32
