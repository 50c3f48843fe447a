// fp32's contender on Hopper. Blocks take whole tiles and share what whole waves leave; few columns
// and small products get small tiles, whose k a block's warps share.

#include <algorithm>

#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "gemm/best/plan.h"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/thread_tile.cuh"
#include "gemm/blocks/tma.cuh"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {
namespace {

/// Four floats from 16 aligned bytes; stays in place among barriers and such loads.
__device__ inline void load_vector(float (&to)[4], std::uint32_t address) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address));
}

/// A block's tile has the whole of k, and each of its warps sums of the whole tile, which are added
/// up at the end. Warp w takes words w, w + warps and so on of a stage's words of four k.
struct Tile {
  static constexpr int m = 64, n = 16, warps = 8, stages = 5;
  static constexpr int lanes_m = 8, lanes_n = 32 / lanes_m;
  static constexpr int rows = m / lanes_m, columns = n / lanes_n;  ///< of a thread
  static constexpr int box_k = 32, boxes = 4, k = box_k * boxes;
  static constexpr int box_bytes = m * box_k * 4;
  static constexpr int threads = 32 * (warps + 1);
  __host__ __device__ static constexpr int a_bytes() { return boxes * box_bytes; }
  __host__ __device__ static constexpr int stage_bytes() { return a_bytes() + k * n * 4; }
  static_assert(columns % 4 == 0 && k / 4 % warps == 0 && lanes_m % 8 == 0);
};
using Ring = TileRing<Tile{}>;
constexpr int shared_bytes = ring_shared_bytes<Tile{}>;
static_assert(shared_bytes <= 227 * 1024 && Tile::warps * Tile::m * Tile::n * 4 <= Ring::bytes);

/// Row i of a lane's in the tile. Those of an operand along k have a word of four k each at a time;
/// those of one along its rows come in fours, of one k each.
template <Major major>
__device__ int row_of(const LanePlace<Tile::lanes_m>& lane, int i) {
  return major == Major::k ? lane.m + i * Tile::lanes_m
                           : i / 4 * (4 * Tile::lanes_m) + lane.m * 4 + i % 4;
}

struct SlicedProduct {
  CUtensorMap map_a, map_b;
  Product<float> product;
  int depth;    ///< stages of k
  int tiles_n;  ///< of C's columns; their blocks are neighbours, and read the same rows of A
};

/// First row and column of this block's tile.
__device__ inline TileIndex sliced_corner(const SlicedProduct& p) {
  const int block = static_cast<int>(blockIdx.x);
  return {block / p.tiles_n * Tile::m, block % p.tiles_n * Tile::n};
}

/// Waits asleep between tries, which would take issue slots from the warps that multiply.
__device__ inline void wait_asleep(std::uint32_t barrier, std::uint32_t parity) {
#pragma unroll 1
  for (int tries = 0; tries < most_tries; ++tries) {
    if (try_wait(barrier, parity)) return;
    __nanosleep(100);
  }
  __trap();
}

template <Major major>
__device__ void produce_slices(const SlicedProduct& p, const Ring& ring) {
  prefetch_map(p.map_a);
  prefetch_map(p.map_b);
  RingPosition<Tile::stages> position;
  const TileIndex at = sliced_corner(p);
  for (int i = 0; i < p.depth; ++i) {
    const std::uint32_t stage = ring.a(position.stage), full = ring.full(position.stage);
    wait_asleep(ring.empty(position.stage), position.parity ^ 1);
    arrive_expect_tx(full, Tile::stage_bytes());
    if constexpr (major == Major::k) {
#pragma unroll
      for (int box = 0; box < Tile::boxes; ++box)
        load_box(stage + box * Tile::box_bytes, p.map_a, i * Tile::k + box * Tile::box_k, at.m,
                 full);
    } else {
      load_box(stage, p.map_a, at.m, i * Tile::k, full);
    }
    load_box(ring.b(position.stage), p.map_b, at.n, i * Tile::k, full);
    position.advance();
  }
}

/// One warp's words of one stage.
template <Major major>
__device__ void add_slices(std::uint32_t stage, const LanePlace<Tile::lanes_m>& lane, int warp,
                           float (&sums)[Tile::rows][Tile::columns]) {
#pragma unroll
  for (int w = 0; w < Tile::k / 4; w += Tile::warps) {
    const int word = w + warp;
    float a[Tile::rows][4], b[4][Tile::columns / 4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int j = 0; j < Tile::columns; j += 4) {
        load_vector(b[k][j / 4],
                    stage + Tile::a_bytes() +
                        ((word * 4 + k) * Tile::n + lane.n * 4 + j * Tile::lanes_n) * 4);
      }
    }
    if constexpr (major == Major::k) {
      const std::uint32_t at = stage + lane.m * Tile::box_k * 4 + word / 8 * Tile::box_bytes +
                               (word % 8 ^ lane.m % 8) * 16;
#pragma unroll
      for (int i = 0; i < Tile::rows; ++i)
        load_vector(a[i], at + i * Tile::lanes_m * Tile::box_k * 4);
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int i = 0; i < Tile::rows; i += 4) {
          float rows[4];
          load_vector(rows, stage + ((word * 4 + k) * Tile::m + row_of<major>(lane, i)) * 4);
#pragma unroll
          for (int r = 0; r < 4; ++r) a[i + r][k] = rows[r];
        }
      }
    }
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
template <Major major>
__device__ void store_slices(const SlicedProduct& p, float* tiles,
                             const LanePlace<Tile::lanes_m>& lane, int warp,
                             const float (&sums)[Tile::rows][Tile::columns]) {
  constexpr int tile = Tile::m * Tile::n;
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::columns; j += 4) {
      float* const to =
          tiles + warp * tile + row_of<major>(lane, i) * Tile::n + lane.n * 4 + j * Tile::lanes_n;
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

/// `major`: of the operand of many rows.
template <Major major>
__global__ void __launch_bounds__(Tile::threads, 1)
    sliced_product(const __grid_constant__ SlicedProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const Ring ring = make_ring<Tile{}>(shared);
  if (threadIdx.x == 0) ring.init(Tile::warps);
  __syncthreads();
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp == Tile::warps) {
    if (threadIdx.x % 32 == 0) produce_slices<major>(p, ring);
    return;
  }
  const LanePlace<Tile::lanes_m> lane;
  float sums[Tile::rows][Tile::columns] = {};
  RingPosition<Tile::stages> position;
#pragma unroll 1
  for (int i = 0; i < p.depth; ++i) {
    wait(ring.full(position.stage), position.parity);
    add_slices<major>(ring.a(position.stage), lane, warp, sums);
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(ring.empty(position.stage));
    position.advance();
  }
  // Nobody reads the ring any more, and all that was to come has come.
  named_barrier(1, 32 * Tile::warps);
  auto* const tiles = reinterpret_cast<float*>(shared + (ring.tiles - shared_address(shared)));
  store_slices<major>(p, tiles, lane, warp, sums);
#endif
}

/// How sliced tiles take operands: that of many rows either way, the other along its columns.
constexpr MajorsTaken sliced_majors{{}, Major::outer};

auto sliced_kernel(const TmaOperand& a) {
  return a.major == Major::k ? &sliced_product<Major::k> : &sliced_product<Major::outer>;
}

void launch_sliced(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const bool swapped = small_side_is_n(arguments.problem);
  const auto [a, b] =
      TmaOperands::prepared(arguments, swapped, sliced_majors, workspace.data, stream);
  SlicedProduct p{};
  p.product = swapped ? column_major<float>(arguments) : row_major<float>(arguments);
  p.depth = static_cast<int>(ceil_div(p.product.k, Tile::k));
  p.tiles_n = static_cast<int>(ceil_div(p.product.n, Tile::n));
  p.map_a = a.major == Major::k ? tensor_map(a.data, a.element, a.k, a.outer, a.stride, Tile::m)
                                : box_map(a, Tile::m, Tile::k);
  p.map_b = box_map(b, Tile::n, Tile::k);
  const auto kernel = sliced_kernel(a);
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   shared_bytes));
  const auto blocks = static_cast<unsigned>(ceil_div(p.product.m, Tile::m) * p.tiles_n);
  kernel<<<blocks, Tile::threads, shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

/// Whether sliced tiles are done sooner, by estimated clocks: whole waves of them, against
/// stream-K, which leaves no SM idle and passes sums on. Fitted to an H100: of 55 products from 64³
/// to 2048³, and with 16 to 192 rows of 8192, it takes the faster way.
bool slices_are_sooner(const Problem& p, int sms) {
  const bool along_k = TmaOperands::of({p}, small_side_is_n(p)).a.major == Major::k;
  const double clocks_of_a_stage = along_k ? 1835 : 1600, around_a_slice = 3000;
  constexpr double products_per_clock = 105, clocks_of_sharing = 36000;
  const std::int64_t slices =
      ceil_div(std::max(p.m, p.n), Tile::m) * ceil_div(std::min(p.m, p.n), Tile::n);
  const auto stages = static_cast<double>(ceil_div(p.k, Tile::k));
  const double sliced =
      static_cast<double>(ceil_div(slices, sms)) * (stages * clocks_of_a_stage + around_a_slice);
  const double tiled = static_cast<double>(covered_by_tiles(p)) * static_cast<double>(p.k) /
                           (sms * products_per_clock) +
                       clocks_of_sharing;
  return sliced < tiled;
}

RungPlan plan(const Problem& p, int sms) {
  if (!slices_are_sooner(p, sms)) return warp_specialised_plan(p, sms);
  const bool swapped = small_side_is_n(p);
  const auto kernel = sliced_kernel(TmaOperands::of({p}, swapped).a);
  return {&launch_sliced,
          TmaOperands::copy_bytes(p, swapped, sliced_majors),
          {reinterpret_cast<const void*>(kernel), Tile::threads, shared_bytes}};
}

}  // namespace

Rung sliced_depth() {
  Rung rung = hopper_contender(Class::fp32, "26_sliced_depth", &plan);
  rung.idea =
      "TMA fills the stages, and of operands along k four warps transpose them in shared memory; "
      "a block an SM takes tiles one after the other and an equal share of k of the last ones "
      "(stream-K), and for few columns and small products a block's warps share the k of a tile "
      "of 64 x 16.";
  rung.gain =
      "No copies, addresses or barriers of the whole block among the multiplications. At 4096³ "
      "and 8192³ the last wave is nine tenths and half full, which costs 3 %; a skinny product "
      "reads its large operand from DRAM once, and no sums leave an SM.";
  return rung;
}

}  // namespace fathom::gemm::fp32
