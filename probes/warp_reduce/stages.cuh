#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "probes/warp_reduce/kernels.h"

// The stages of a sum, each a building block: a thread's own loop, a warp, a block. What a grid
// does with the blocks' sums is what distinguishes the kernels that use them.

namespace fathom::warp_reduce {

template <Element element>
struct ElementType {
  using Type = std::tuple_element_t<static_cast<int>(element),
                                    std::tuple<float, double, unsigned, __half, __nv_bfloat16>>;
};
template <Element element>
using TypeOf = typename ElementType<element>::Type;

/// Narrow types are summed in float; integers wrap, hence unsigned.
template <class T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>, float, T>;

/// Every lane gets the warp's sum: five exchanges, each halving the distance.
template <class T>
__device__ __forceinline__ T warp_sum(T x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, offset);
  return x;
}

/// Thread 0 gets the block's sum: a shuffle in each warp, one exchange through shared memory, and a
/// shuffle in the first warp. Ends with the other warps possibly still on their way.
template <int Threads, class T>
__device__ __forceinline__ T block_sum(T x) {
  constexpr int warps = Threads / 32;
  __shared__ T warp_sums[warps];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 32) x = warp_sum(threadIdx.x < warps ? warp_sums[threadIdx.x] : T(0));
  return x;
}

/// One thread's running sum. Two accumulators for each place of a vector halve the dependent chain.
template <class T>
class ThreadSum {
 public:
  static constexpr int places = vector_bytes / sizeof(T);
  using Sum = Accumulator<T>;

  __device__ void add_element(T x) { sums_[0][0] += static_cast<Sum>(x); }

  __device__ void add_vector(uint4 vector, int which) {
    // Through registers: a memcpy from memory itself would load the vector byte by byte.
    union Bits {
      uint4 vector;
      T elements[places];
      __device__ Bits(uint4 v) : vector(v) {}
    } const bits(vector);
#pragma unroll
    for (int i = 0; i < places; ++i) sums_[which][i] += static_cast<Sum>(bits.elements[i]);
  }

  /// `tile` is the tile's first vector. All loads of a batch are issued before the first is used.
  template <int Threads>
  __device__ void add_tile(const uint4* __restrict__ tile) {
    const uint4* from = tile + threadIdx.x;
#pragma unroll 1
    for (int batch = 0; batch < batches_per_tile; ++batch, from += Threads * vectors_per_batch) {
      uint4 vectors[vectors_per_batch];
#pragma unroll
      for (int v = 0; v < vectors_per_batch; ++v) vectors[v] = from[v * Threads];
#pragma unroll
      for (int v = 0; v < vectors_per_batch; ++v) add_vector(vectors[v], v % 2);
    }
  }

  /// The elements outside of whole vectors, one a thread: fewer than a warp has lanes. Loops, so
  /// that the compiler branches: an `if` becomes predicated loads, which every warp would issue in
  /// vain.
  __device__ void add_ends(const T* __restrict__ source, const SumLayout& layout) {
#pragma unroll 1
    for (int i = threadIdx.x; i < layout.head_elements; i += 32) add_element(source[i]);
    const T* tail = source + layout.elements - layout.tail_elements;
#pragma unroll 1
    for (int i = threadIdx.x; i < layout.tail_elements; i += 32) add_element(tail[i]);
  }

  /// Everything outside of whole tiles.
  template <int Threads>
  __device__ void add_rest(const T* __restrict__ source, const SumLayout& layout) {
    const uint4* first = vectors_of(source, layout) + layout.full_tiles * tile_vectors(Threads);
#pragma unroll 1
    for (int i = threadIdx.x; i < static_cast<int>(layout.rest_vectors); i += Threads)
      add_vector(first[i], 0);
    add_ends(source, layout);
  }

  template <int Threads>
  __device__ void add_tile_or_rest(const T* __restrict__ source, const SumLayout& layout,
                                   std::size_t tile) {
    if (tile < layout.full_tiles)
      add_tile<Threads>(vectors_of(source, layout) + tile * tile_vectors(Threads));
    else
      add_rest<Threads>(source, layout);
  }

  static __device__ const uint4* vectors_of(const T* source, const SumLayout& layout) {
    return reinterpret_cast<const uint4*>(source + layout.head_elements);
  }

  /// Pairwise, so that the last additions are no longer chain than the vector needs.
  __device__ Sum total() const {
    Sum sums[places];
#pragma unroll
    for (int i = 0; i < places; ++i) sums[i] = sums_[0][i] + sums_[1][i];
#pragma unroll
    for (int distance = places / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (int i = 0; i < distance; ++i) sums[i] += sums[i + distance];
    }
    return sums[0];
  }

 private:
  Sum sums_[2][places] = {};
};

}  // namespace fathom::warp_reduce
