// fp32's contender on Hopper. A block an SM takes tiles one after the other, and shares what whole
// waves leave; for few columns a block has a narrow tile, and its warps share k instead of the
// tile.

#include <algorithm>
#include <optional>

#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "gemm/best/plan.h"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/thread_tile.cuh"
#include "gemm/blocks/tma.cuh"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {
namespace {

/// Loads four floats from a 16-byte aligned shared-memory address. Stays where it is among barriers
/// and other such loads.
__device__ inline void load_vector(float (&to)[4], std::uint32_t address) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address));
}

/// A block's tile has the whole of k. Its warps take turns along k, each with sums of the whole
/// tile, which are added up in shared memory at the end. Warp w takes words w, w + warps and so on
/// of the words of four k in a stage.
struct Tile {
  static constexpr int m = 64, n = 16, warps = 8, stages = 5;
  static constexpr int lanes_m = 8, lanes_n = 32 / lanes_m;
  static constexpr int rows = m / lanes_m, columns = n / lanes_n;  ///< of a thread
  static constexpr int box_k = 32, boxes = 4, k = box_k * boxes;
  static constexpr int box_bytes = m * box_k * 4, b_offset = boxes * box_bytes;
  static constexpr int stage_bytes = b_offset + k * n * 4;
  static constexpr int threads = 32 * (warps + 1);
  static constexpr int shared_bytes = 1024 + stages * stage_bytes + 16 * stages;
  static_assert(columns % 4 == 0 && k / 4 % warps == 0 && lanes_m % 8 == 0 &&
                shared_bytes <= 227 * 1024);
  static_assert(warps * m * n * 4 <= stages * stage_bytes);
};

struct SlicedProduct {
  CUtensorMap map_a, map_b;
  Product<float> product;
  int depth;    ///< stages of k
  int tiles_n;  ///< of C's columns; their blocks are neighbours, and read the same rows of A
};

__device__ inline TileIndex sliced_corner(const SlicedProduct& p) {
  const int block = static_cast<int>(blockIdx.x);
  return {block / p.tiles_n * Tile::m, block % p.tiles_n * Tile::n};
}

__device__ inline void produce_slices(const SlicedProduct& p, std::uint32_t tiles,
                                      std::uint32_t barriers) {
  prefetch_map(p.map_a);
  prefetch_map(p.map_b);
  RingPosition<Tile::stages> position;
  const TileIndex at = sliced_corner(p);
  for (int i = 0; i < p.depth; ++i) {
    const std::uint32_t stage = tiles + position.stage * Tile::stage_bytes;
    const std::uint32_t full = barriers + 8 * position.stage;
    wait_asleep(full + 8 * Tile::stages, position.parity ^ 1, 100);
    arrive_expect_tx(full, Tile::stage_bytes);
#pragma unroll
    for (int box = 0; box < Tile::boxes; ++box)
      load_box(stage + box * Tile::box_bytes, p.map_a, i * Tile::k + box * Tile::box_k, at.m, full);
    load_box(stage + Tile::b_offset, p.map_b, at.n, i * Tile::k, full);
    position.advance();
  }
}

/// One warp's words of one stage.
__device__ inline void add_slices(std::uint32_t stage, const LanePlace<Tile::lanes_m>& lane,
                                  int warp, float (&sums)[Tile::rows][Tile::columns]) {
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
__device__ inline void store_slices(const SlicedProduct& p, float* tiles,
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
  const TileIndex at = sliced_corner(p);
  for (int x = static_cast<int>(threadIdx.x); x < tile; x += 32 * Tile::warps) {
    float sum = 0;
#pragma unroll
    for (int other = 0; other < Tile::warps; ++other) sum += tiles[other * tile + x];
    const int r = at.m + x / Tile::n, c = at.n + x % Tile::n;
    if (r < p.product.m && c < p.product.n) store_element(p.product, r, c, sum);
  }
}

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
    if (threadIdx.x % 32 == 0) produce_slices(p, tiles, barriers);
    return;
  }
  const LanePlace<Tile::lanes_m> lane;
  float sums[Tile::rows][Tile::columns] = {};
  RingPosition<Tile::stages> position;
#pragma unroll 1
  for (int i = 0; i < p.depth; ++i) {
    const std::uint32_t full = barriers + 8 * position.stage;
    wait(full, position.parity);
    add_slices(tiles + position.stage * Tile::stage_bytes, lane, warp, sums);
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(full + 8 * Tile::stages);
    position.advance();
  }
  // Nobody reads the ring any more, and all that was to come has come.
  named_barrier(1, 32 * Tile::warps);
  store_slices(p, reinterpret_cast<float*>(shared + (tiles - shared_address(shared))), lane, warp,
               sums);
#endif
}

/// Whether the product is taken as BLAS states it, not row-major: so that its columns are few.
bool is_swapped(const Problem& p) { return p.n < p.m; }

/// How sliced tiles take operands: the one of many rows along k, the other along its columns.
/// Others are copied first.
MajorsTaken sliced_majors(const Problem& p) {
  return is_swapped(p) ? MajorsTaken{Major::outer, Major::k} : MajorsTaken{Major::k, Major::outer};
}

void launch_sliced(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const bool swapped = is_swapped(arguments.problem);
  const TmaOperands operands = TmaOperands::prepared(arguments, sliced_majors(arguments.problem),
                                                     workspace.data, stream);
  SlicedProduct p{};
  p.product = swapped ? column_major<float>(arguments) : row_major<float>(arguments);
  p.depth = static_cast<int>(ceil_div(p.product.k, Tile::k));
  p.tiles_n = static_cast<int>(ceil_div(p.product.n, Tile::n));
  const TmaOperand& a = swapped ? operands.b : operands.a;
  const TmaOperand& b = swapped ? operands.a : operands.b;
  p.map_a = tensor_map(a.data, a.element, a.k, a.outer, a.stride, Tile::m);
  p.map_b = plain_tensor_map(b.data, b.element, b.outer, b.k, b.stride, Tile::n, Tile::k);
  FATHOM_CUDA(cudaFuncSetAttribute(sliced_product, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   Tile::shared_bytes));
  const auto blocks = static_cast<unsigned>(ceil_div(p.product.m, Tile::m) * p.tiles_n);
  sliced_product<<<blocks, Tile::threads, Tile::shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

/// Most columns for which sliced tiles are the faster ones.
constexpr std::int64_t most_sliced = 64;

/// Filled by TMA, and threads that transpose what lies along k, where lines start on 16 bytes: the
/// best placed of those tiles. Else by TMA alone, for which operands are copied first.
WarpSpecialisedChoice choice_for(const Problem& p) {
  std::optional<WarpSpecialisedChoice> best;
  for (const WarpSpecialisedChoice& tile :
       {transposing_producer_a(), transposing_producer_b(), transposing_producer_both()}) {
    if (tile.takes(p) && (!best || tile.placement(p) < best->placement(p))) best = tile;
  }
  return best.value_or(tma_producer_128x256());
}

RungPlan plan(const Problem& p, int sms) {
  if (std::min(p.m, p.n) <= most_sliced)
    return {&launch_sliced, TmaOperands::copy_bytes(p, sliced_majors(p))};
  return choice_for(p).plan(p, sms);
}

}  // namespace

Rung sliced_depth() {
  Rung rung = hopper_contender(Class::fp32, "26_sliced_depth", &plan);
  rung.idea =
      "TMA fills the stages, and of operands along k four warps transpose them in shared memory; "
      "eight warps multiply. A block an SM takes tiles one after the other; of those that would be "
      "the last, partly filled waves each block takes an equal share of k (stream-K). For up to 64 "
      "columns a block has 64 rows, 16 columns and the whole of k, of which each of its eight "
      "warps takes every eighth four.";
  rung.gain =
      "No copies, addresses or barriers of the whole block among the multiplications. At 4096³ and "
      "8192³ the last wave is nine tenths and half full, which costs 3 %; products of few "
      "tiles keep every SM busy. A skinny product reads its large operand once, and no sums leave "
      "an SM.";
  return rung;
}

}  // namespace fathom::gemm::fp32
