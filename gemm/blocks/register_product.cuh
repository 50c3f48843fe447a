#pragma once

#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/register_sums.cuh"
#include "gemm/blocks/tma_product.cuh"
#include "gemm/blocks/warp_tile.cuh"

// The warp-specialised product with its first operand through registers, and its launch.

namespace fathom::gemm {

// How the sums of a warpgroup get to C whose first operand came through registers: a block of 64
// rows, in the order of row_in_block (gemm/blocks/register_operand.cuh).

/// Which elements of C a thread stores at once: neighbours in memory of two rows or of two columns.
enum class StoredPairs { none, rows, columns };

/// Stores a warp's sums of a block, in few instructions, since nothing is multiplied meanwhile. In
/// pairs the block must be inside C. Where `adds` is false, beta is 0 and C is not read.
template <Major major, StoredPairs pairs, bool adds, int Count>
__device__ inline void store_block_as(const TiledProduct<float, float>& p,
                                      const std::uint32_t (&sums)[Count], int first_row,
                                      int first_column) {
  const int lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int row = first_row + row_in_block<major>(warp, lane, 0),
            other_row = first_row + row_in_block<major>(warp, lane, 1);
  int column = first_column + lane % 4 * 2;
  const std::int64_t next_row = (other_row - row) * p.c.row_stride, next_column = p.c.column_stride;
  float* c = &p.c(row, column);
  // A thread's four elements of every 8 columns: two columns of one row, then of the other.
#pragma unroll
  for (int i = 0; i < Count; i += 4, c += 8 * next_column, column += 8) {
    float* const of[4] = {c, c + next_column, c + next_row, c + next_row + next_column};
    float x[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) x[j] = p.alpha * sum_of<float>(sums[i + j]);
    if constexpr (pairs == StoredPairs::none) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if ((j < 2 ? row : other_row) < p.m && column + j % 2 < p.n) {
          if constexpr (adds) x[j] += p.beta * *of[j];
          *of[j] = x[j];
        }
      }
    } else {
      constexpr int second = pairs == StoredPairs::rows ? 2 : 1, next = 3 - second;
#pragma unroll
      for (int j = 0; j <= next; j += next) {
        auto* const pair = reinterpret_cast<float2*>(of[j]);
        if constexpr (adds) {
          const float2 old = *pair;
          x[j] += p.beta * old.x;
          x[j + second] += p.beta * old.y;
        }
        *pair = make_float2(x[j], x[j + second]);
      }
    }
  }
}

/// Stores a warp's sums of a block, for any C. Where C and its lines start and end on 16 bytes, two
/// neighbours in memory go at once, if a thread has them.
template <Major major, int Count>
__device__ inline void store_block(const TiledProduct<float, float>& p,
                                   const std::uint32_t (&sums)[Count], int first_row,
                                   int first_column) {
  const auto store = [&]<StoredPairs pairs>() {
    if (p.beta == 0) {
      store_block_as<major, pairs, false>(p, sums, first_row, first_column);
    } else {
      store_block_as<major, pairs, true>(p, sums, first_row, first_column);
    }
  };
  const bool inside = first_row + block_side <= p.m && first_column + Count * 2 <= p.n;
  if (inside && major == Major::outer && p.tma_stores && p.c.row_stride == 1) {
    store.template operator()<StoredPairs::rows>();
  } else if (inside && p.tma_stores && p.c.column_stride == 1) {
    store.template operator()<StoredPairs::columns>();
  } else {
    store.template operator()<StoredPairs::none>();
  }
}

/// Registers of a producer thread and of a consumer thread (gemm/blocks/specialised_product.cuh):
/// the operand on its way takes what the producer threads can do without.
inline constexpr int register_product_loading = 24, register_product_multiplying = 240;

template <KernelConfig d>
constexpr int register_product_shared_bytes() {
  constexpr KernelConfig ring = d.ring();
  return 1024 + TileRing<ring>::bytes + TileRing<ring>::barrier_bytes;
}

/// Keeps a warp's sums in a tile of them at `tile`, to be added to other blocks'; zeros if it has
/// none.
template <Major major, int Columns>
__device__ inline void keep_block(std::uint32_t tile, const std::uint32_t (&sums)[Columns / 2],
                                  int first_row) {
  const int lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32 % 4;
#pragma unroll
  for (int i = 0; i < Columns / 2; i += 2) {
    const int r = first_row + row_in_block<major>(warp, lane, i % 4 / 2),
              c = i / 4 * 8 + lane % 4 * 2;
    asm volatile(
        "st.shared.v2.b32 [%0], {%1, %2};" ::"r"(tile + (r * partial_pitch<Columns> + c) * 4),
        "r"(sums[i]), "r"(sums[i + 1])
        : "memory");
  }
}

/// A warpgroup's tiles: multiplied and, but for a split k, stored.
template <Major major, KernelConfig d>
__device__ inline void multiply_register_tiles(const TiledProduct<float, float>& p,
                                               const RegisterSource<d>& source) {
  constexpr KernelConfig ring = d.ring();
  const DepthRange range = depth_range<ring>(p, source.place);
  RingPosition<d.stages> position;
  std::uint32_t sums[d.n / 2];
#pragma unroll
  for (std::uint32_t& sum : sums) sum = 0;
  // The compiler would set a known value just before the first product reads it, between products
  // that are under way.
  fence_accumulators(sums);
  for (TileScheduler<ring> scheduler(p); !scheduler.done(); scheduler.advance()) {
    const TileIndex corner = scheduler.corner(p, source.place);
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
      keep_block<major, d.n>(source.ring.tiles, sums, first_row);
      return;
    } else {
      store_block<major>(p, sums, corner.m + first_row, corner.n / d.planes());
    }
  }
}

/// `Kernel` has the KernelConfig `config` and the Major of its first operand, `major`. The
/// columns of p.map_b are those of all planes, tile by tile.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::config.ring().threads(), 1)
    register_product(const __grid_constant__ TiledProduct<float, float> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr KernelConfig d = Kernel::config;
  constexpr KernelConfig ring_config = d.ring();
  extern __shared__ std::byte shared[];
  if constexpr (d.has_tail) asm volatile("griddepcontrol.launch_dependents;");
  const ClusterPlace<ring_config> place;
  TileRing<ring_config> ring;
  ring.tiles = (shared_address(shared) + 1023) / 1024 * 1024;
  ring.barriers = ring.tiles + TileRing<ring_config>::bytes;
  if (threadIdx.x == 0) ring.init(4 * ring_config.consumers * ring_config.sharing());
  if constexpr (ring_config.cluster() == 1) {
    __syncthreads();
  } else {
    cluster_sync();
  }

  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (group == ring_config.consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(register_product_loading));
    if (threadIdx.x % 128 == 0)
      load_tiles<float, ring_config, Kernel::major, Major::k>(p, ring, place);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(register_product_multiplying));
    multiply_register_tiles<Kernel::major, d>(p, {ring, place, group});
  }

  // No block ends while another of its cluster may still arrive at its barriers or read its sums.
  if constexpr (ring_config.cluster() > 1) cluster_sync();
  if constexpr (d.split_k > 1) {
    if (group < ring_config.consumers) {
      const TileScheduler<ring_config> scheduler(p);
      TileIndex corner = scheduler.corner(p, place);
      corner.n /= d.planes();
      if (!scheduler.done()) store_cluster_sum<d>(p, ring.tiles, ClusterPlace<d>(), corner);
    }
    cluster_sync();
  }
  // What comes after the tail kernel waits for it alone: so it ends last.
  if constexpr (ring_config.parent() > 1) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <KernelConfig d>
ClusterLaunch register_launch(cudaStream_t stream) {
  constexpr KernelConfig ring = d.ring();
  return {1, ring.threads(), register_product_shared_bytes<d>(), ring.cluster(), stream};
}

/// A kernel's shape and the way in which its first operand lies. A shape is a type, since kernels
/// are named by types (gemm/blocks/tma_product.cuh): it has a KernelConfig `config` and, as
/// `majors`, the layouts of the operands that it is compiled for, the second always along k.
template <class Shape, Major first>
struct RegisterKernel {
  static constexpr KernelConfig config = Shape::config;
  static constexpr Major major = first;
};

/// The operands of such a kernel: `first` by way of registers, contiguous either way; `second`
/// along k, or where it is split into planes, those.
struct RegisterOperands {
  TmaOperand first, second;
  /// Whether `first` is BLAS's A, so that the kernel computes BLAS's C; else it computes the
  /// transpose, as other kernels do (gemm/bench/problem.h).
  bool a_first = false;
};

template <class Shape, Major first>
void launch_register_kernel(const TiledProduct<float, float>& product, cudaStream_t stream) {
  constexpr KernelConfig d = Shape::config;
  constexpr auto kernel = &register_product<RegisterKernel<Shape, first>>;
  if constexpr (d.has_tail) {
    constexpr KernelConfig tail = TailOf<Shape>::config;
    launch_with_tail_kernel<kernel, d.ring(),
                            &register_product<RegisterKernel<TailOf<Shape>, first>>, tail.ring()>(
        product, register_launch<d>(stream), register_launch<tail>(stream));
  } else {
    launch_scheduled<kernel, d.ring()>(product, register_launch<d>(stream));
  }
}

/// Launches the shape; `columns` is the outer size of the second operand itself.
template <class Shape>
void launch_register_shape(const Arguments& arguments, const RegisterOperands& operands,
                           std::int64_t columns, cudaStream_t stream) {
  constexpr KernelConfig d = Shape::config;
  constexpr KernelConfig ring = d.ring();
  const Problem& p = arguments.problem;
  TiledProduct<float, float> product{};
  product.map_a = operand_map(operands.first);
  product.map_b = operand_map(operands.second, ring.narrow_b ? ring.n : block_side);
  product.m = static_cast<int>(operands.first.outer);
  product.n = static_cast<int>(columns);
  product.depth = static_cast<int>(ceil_div(p.k, stage_depth<float>));
  product.tiles_m = static_cast<int>(ceil_div(product.m, ring.m() * d.cluster_m));
  product.tiles_n = static_cast<int>(ceil_div(columns, d.n * d.cluster_n));
  product.first = 0;
  product.end = product.step = product.tiles_m * product.tiles_n;
  product.alpha = static_cast<float>(p.alpha);
  product.beta = static_cast<float>(p.beta);
  product.c = {static_cast<float*>(arguments.c), operands.a_first ? 1 : p.ldc,
               operands.a_first ? p.ldc : 1};
  product.tma_stores = columns_aligned(p.ldc, Element::f32, map_alignment) &&
                       columns_aligned(p.m, Element::f32, map_alignment);
  if constexpr (takes(Shape::majors, Major::k, Major::k)) {
    if (operands.first.major == Major::k) launch_register_kernel<Shape, Major::k>(product, stream);
  }
  if constexpr (takes(Shape::majors, Major::outer, Major::k)) {
    if (operands.first.major == Major::outer)
      launch_register_kernel<Shape, Major::outer>(product, stream);
  }
}

/// What a rung reports of a shape: the tile's rows are those of the operand that goes through
/// registers, and where that is BLAS's A, those of C, which the rung's own view has as columns.
template <class Shape>
RungKernel register_kernel(bool a_first) {
  constexpr KernelConfig d = Shape::config, ring = d.ring();
  const RungKernel kernel{
      reinterpret_cast<const void*>(&register_product<RegisterKernel<Shape, Major::outer>>),
      ring.threads(),
      register_product_shared_bytes<d>(),
      ring.m(),
      d.n,
      stage_depth<float>,
      d.split_k,
      d.cluster_m,
      d.cluster_n};
  return a_first ? kernel.transposed() : kernel;
}

}  // namespace fathom::gemm
