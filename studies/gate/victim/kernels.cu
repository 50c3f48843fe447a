#include "studies/gate/victim/kernels.h"

#include <mma.h>

#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "harness/cuda_check.h"

namespace fathom::gate_victim {
namespace {

/// A quadratic map that is chaotic, so that an end tells how many steps were taken; one rounding a
/// step, on the host too.
template <class Value>
struct MultiplyAdd {
  using T = Value;
  static constexpr bool exchanges = false;
  __host__ __device__ static T start(int lane) { return T(lane) / 64; }
  __host__ __device__ static T step(T x) {
    if constexpr (sizeof(T) == sizeof(float)) return fmaf(-x, x, 1.9375f);
    return ::fma(-static_cast<double>(x), static_cast<double>(x), 1.9375);
  }
};

struct IntegerMultiplyAdd {
  using T = std::uint32_t;
  static constexpr bool exchanges = false;
  __host__ __device__ static T start(int lane) { return 2654435761u * static_cast<T>(lane + 1); }
  // The shift keeps the compiler from folding several steps into one.
  __host__ __device__ static T step(T x) { return (x ^ (x >> 15)) * 1664525u + 1013904223u; }
};

/// Takes the neighbour's value before each step.
struct Exchange {
  using T = std::uint32_t;
  static constexpr bool exchanges = true;
  __host__ __device__ static T start(int lane) { return 2654435761u * static_cast<T>(lane + 1); }
  __host__ __device__ static T step(T x) { return x * 3 + 1; }
};

template <class Op>
__global__ void __launch_bounds__(1024) chain(int turns, typename Op::T* out) {
  typename Op::T x = Op::start(threadIdx.x % lanes);
#pragma unroll 1
  for (int i = 0; i < turns; ++i) {
#pragma unroll
    for (int step = 0; step < chain_unroll; ++step) {
      if constexpr (Op::exchanges) x = __shfl_xor_sync(0xffffffffu, x, 1);
      x = Op::step(x);
    }
  }
  out[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = x;
}

template <class Op>
std::array<std::uint64_t, lanes> end_of(int turns) {
  std::array<typename Op::T, lanes> x;
  for (int lane = 0; lane < lanes; ++lane) x[lane] = Op::start(lane);
  for (int i = 0; i < turns * chain_unroll; ++i) {
    const auto before = x;
    for (int lane = 0; lane < lanes; ++lane)
      x[lane] = Op::step(before[Op::exchanges ? lane ^ 1 : lane]);
  }
  std::array<std::uint64_t, lanes> words{};
  for (int lane = 0; lane < lanes; ++lane) std::memcpy(&words[lane], &x[lane], sizeof x[lane]);
  return words;
}

/// Does `act` with the operation that the name stands for.
template <class Act>
auto with_op(Chain name, const Act& act) {
  switch (name) {
    case Chain::fma:
      return act(MultiplyAdd<float>());
    case Chain::dfma:
      return act(MultiplyAdd<double>());
    case Chain::imad:
      return act(IntegerMultiplyAdd());
    default:
      return act(Exchange());
  }
}

/// A walk through all 32 rows.
__host__ __device__ constexpr int next_row(int row) { return (5 * row + 7) % 32; }

__global__ void __launch_bounds__(1024) shared_chase(int steps, int conflicts, int* out) {
  __shared__ int by_row[32 * lanes], by_lane[32 * lanes];
  for (int i = threadIdx.x; i < 32 * lanes; i += blockDim.x) {
    by_row[i] = next_row(i / lanes);
    by_lane[i] = next_row(i % 32);
  }
  __syncthreads();
  const int lane = threadIdx.x % lanes;
  int row = threadIdx.x / lanes % 32;
#pragma unroll 1
  for (int i = 0; i < conflicts; ++i) row = by_lane[lane * 32 + row];  // one bank
#pragma unroll 1
  for (int i = conflicts; i < steps; ++i) row = by_row[row * lanes + lane];
  out[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = row;
}

__global__ void __launch_bounds__(1024) products(int steps, float* out) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> a;
  fragment<matrix_b, 16, 16, 16, half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(a, __float2half(1.f));
  fill_fragment(b, __float2half(1.f));
  fill_fragment(sum, 0.f);
#pragma unroll 1
  for (int i = 0; i < steps; ++i) mma_sync(sum, a, b, sum);
  const std::size_t warp =
      (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  store_matrix_sync(out + warp * tile_elements, sum, 16, mem_row_major);
}

__global__ void __launch_bounds__(1024) atomics(int steps, int cells, int sets, int* out) {
  int* cell = out + (blockIdx.x * blockDim.x + threadIdx.x) % cells;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) atomicMax(cell + i % sets * cells, i);
}

constexpr unsigned words_per_slot = slot_bytes / sizeof(unsigned);

/// A walk through all slots (Hull and Dobell's conditions for a power of two).
__host__ __device__ constexpr unsigned next_slot(unsigned slot, unsigned slots) {
  return (slot * 1103515245u + 12345u) % slots;
}

__global__ void chase(const unsigned* chain, int steps, bool in_l1, unsigned* out) {
  unsigned slot = 0;
  if (in_l1) {
#pragma unroll 1
    for (int i = 0; i < steps; ++i) slot = __ldca(chain + slot * words_per_slot);
  } else {
#pragma unroll 1
    for (int i = 0; i < steps; ++i) slot = __ldcg(chain + slot * words_per_slot);
  }
  *out = slot;
}

__global__ void write_chase(unsigned* chain, unsigned slots) {
  const unsigned slot = blockIdx.x * blockDim.x + threadIdx.x;
  if (slot < slots) chain[slot * words_per_slot] = next_slot(slot, slots);
}

constexpr int vectors_per_thread = tile_vectors / tile_threads;

__device__ unsigned folded(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }

__device__ unsigned folded_over_warp(unsigned x) {
  for (int reach = lanes / 2; reach > 0; reach /= 2) x ^= __shfl_xor_sync(0xffffffffu, x, reach);
  return x;
}

__global__ void __launch_bounds__(tile_threads)
    read_tiles(const uint4* from, unsigned* out, int in_buffer, int apart_per_thousand) {
  const uint4* tile = from + static_cast<std::size_t>(blockIdx.x % in_buffer) * tile_vectors;
  const bool apart = static_cast<int>(blockIdx.x % 1000) < apart_per_thousand;
  const int first = apart ? threadIdx.x * vectors_per_thread : threadIdx.x;
  const int step = apart ? 1 : tile_threads;
  unsigned x = 0;
#pragma unroll
  for (int i = 0; i < vectors_per_thread; ++i) x ^= folded(tile[first + i * step]);
  __shared__ unsigned of_warp[tile_threads / lanes];
  x = folded_over_warp(x);
  if (threadIdx.x % lanes == 0) of_warp[threadIdx.x / lanes] = x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < tile_threads / lanes; ++warp) x ^= of_warp[warp];
  out[blockIdx.x] = x;
}

__global__ void __launch_bounds__(tile_threads)
    copy_tiles(const uint4* from, uint4* to, int in_buffer) {
  const std::size_t tile = static_cast<std::size_t>(blockIdx.x % in_buffer) * tile_vectors;
#pragma unroll
  for (int i = 0; i < vectors_per_thread; ++i) {
    const std::size_t place = tile + i * tile_threads + threadIdx.x;
    to[place] = from[place];
  }
}

__global__ void read_reference(const unsigned* from, unsigned* out) {
  constexpr int words = tile_bytes / sizeof(unsigned);
  unsigned x = 0;
  for (int i = threadIdx.x; i < words; i += lanes)
    x ^= from[static_cast<std::size_t>(blockIdx.x) * words + i];
  x = folded_over_warp(x);
  if (threadIdx.x == 0) out[blockIdx.x] = x;
}

template <class Kernel>
void allow(Kernel kernel, int dynamic_shared) {
  FATHOM_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_shared));
}

}  // namespace

std::size_t chain_bytes(Chain name) {
  return with_op(name, [](auto op) { return sizeof(typename decltype(op)::T); });
}

void launch_chain(Chain name, const Grid& grid, int turns, void* out, cudaStream_t stream) {
  with_op(name, [&](auto op) {
    using Op = decltype(op);
    chain<Op>
        <<<grid.blocks, grid.warps * lanes, 0, stream>>>(turns, static_cast<typename Op::T*>(out));
  });
  FATHOM_CUDA(cudaGetLastError());
}

std::array<std::uint64_t, lanes> chain_end(Chain name, int turns) {
  // Kept: milliseconds each, and the same for every case of a kind and every time it is made ready.
  static std::map<std::pair<Chain, int>, std::array<std::uint64_t, lanes>> known;
  const auto [found, is_new] = known.try_emplace({name, turns});
  if (is_new) found->second = with_op(name, [&](auto op) { return end_of<decltype(op)>(turns); });
  return found->second;
}

void launch_shared_chase(const Grid& grid, int steps, int conflicts, int* out,
                         cudaStream_t stream) {
  shared_chase<<<grid.blocks, grid.warps * lanes, 0, stream>>>(steps, conflicts, out);
  FATHOM_CUDA(cudaGetLastError());
}

int shared_chase_end(int warp, int steps) {
  int row = warp % 32;
  for (int i = 0; i < steps; ++i) row = next_row(row);
  return row;
}

void launch_products(const Grid& grid, int steps, float* out, cudaStream_t stream) {
  products<<<grid.blocks, grid.warps * lanes, 0, stream>>>(steps, out);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_atomics(const Grid& grid, int steps, int cells, int sets, int* out,
                    cudaStream_t stream) {
  atomics<<<grid.blocks, grid.warps * lanes, 0, stream>>>(steps, cells, sets, out);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_chase(const unsigned* chain, int steps, bool in_l1, unsigned* out,
                  cudaStream_t stream) {
  chase<<<1, 1, 0, stream>>>(chain, steps, in_l1, out);
  FATHOM_CUDA(cudaGetLastError());
}

void fill_chase(unsigned* chain, unsigned slots, cudaStream_t stream) {
  constexpr unsigned block = 256;
  write_chase<<<(slots + block - 1) / block, block, 0, stream>>>(chain, slots);
  FATHOM_CUDA(cudaGetLastError());
}

unsigned chase_end(unsigned slots, int steps) {
  unsigned slot = 0;
  for (int i = 0; i < steps; ++i) slot = next_slot(slot, slots);
  return slot;
}

void launch_read(const Tiles& tiles, const uint4* from, unsigned* out, cudaStream_t stream) {
  if (tiles.dynamic_shared > 0) allow(read_tiles, tiles.dynamic_shared);
  read_tiles<<<tiles.count, tile_threads, tiles.dynamic_shared, stream>>>(
      from, out, tiles.in_buffer, tiles.apart_per_thousand);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_copy(const Tiles& tiles, const uint4* from, uint4* to, cudaStream_t stream) {
  if (tiles.dynamic_shared > 0) allow(copy_tiles, tiles.dynamic_shared);
  copy_tiles<<<tiles.count, tile_threads, tiles.dynamic_shared, stream>>>(from, to,
                                                                          tiles.in_buffer);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_read_reference(int in_buffer, const uint4* from, unsigned* out, cudaStream_t stream) {
  read_reference<<<in_buffer, lanes, 0, stream>>>(reinterpret_cast<const unsigned*>(from), out);
  FATHOM_CUDA(cudaGetLastError());
}

int resident_tiles(bool copies) {
  int blocks = 0;
  FATHOM_CUDA(
      copies ? cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copy_tiles, tile_threads, 0)
             : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, read_tiles, tile_threads, 0));
  return blocks;
}

}  // namespace fathom::gate_victim
