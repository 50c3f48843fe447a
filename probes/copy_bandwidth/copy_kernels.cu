#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <tuple>

#include "probes/copy_bandwidth/cache_hints.cuh"
#include "probes/copy_bandwidth/kernels.h"
#include "probes/device/launch.h"

namespace fathom::copy_bandwidth {
namespace {

/// What one thread moves at once. Never aligned to more than 16 bytes, so that 32 bytes are two
/// instructions on every architecture.
template <class T, int Count>
struct alignas(sizeof(T) * Count < 16 ? sizeof(T) * Count : 16) Pack {
  using Element = T;
  static constexpr int count = Count;
  T element[Count];
};

// Hinted accesses are of 16 bytes, whatever the pack calls its elements.

constexpr unsigned plain_load_line = __LINE__ + 4;
template <class P, LoadHint hint>
__device__ P load(const P* p) {
  if constexpr (hint == LoadHint::none) {
    return *p;
  } else {
    static_assert(sizeof(P) == sizeof(uint4));
    return __builtin_bit_cast(P, hinted_load<hint>(reinterpret_cast<const uint4*>(p)));
  }
}

constexpr unsigned plain_store_line = __LINE__ + 4;
template <class P, StoreHint hint>
__device__ void store(P* p, P value) {
  if constexpr (hint == StoreHint::none) {
    *p = value;
  } else {
    static_assert(sizeof(P) == sizeof(uint4));
    hinted_store<hint>(reinterpret_cast<uint4*>(p), __builtin_bit_cast(uint4, value));
  }
}

struct Extent {
  std::size_t packs;        ///< whole ones
  std::size_t tail_first;   ///< thread number of the first leftover element: a warp of its own
  std::size_t end;          ///< thread numbers in all
  unsigned whole_tiles;     ///< blocks in which every thread has a pack for each of its turns
};

constexpr unsigned load_call_line = __LINE__ + 10;
constexpr unsigned store_call_line = __LINE__ + 11;
template <class P, int Unroll, LoadHint load_hint, StoreHint store_hint>
__global__ void copy(const P* src, P* dst, Extent extent) {
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x * Unroll + threadIdx.x;
  // Blocks decide as a whole and warps without work leave by a branch: an access that is issued
  // with no lane active would be counted as an instruction.
  if (blockIdx.x < extent.whole_tiles) {
    P value[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) value[u] = load<P, load_hint>(src + i + u * blockDim.x);
#pragma unroll
    for (int u = 0; u < Unroll; ++u) store<P, store_hint>(dst + i + u * blockDim.x, value[u]);
    return;
  }
  const std::size_t next_tile = (static_cast<std::size_t>(blockIdx.x) + 1) * blockDim.x * Unroll;
  const std::size_t end = extent.end < next_tile ? extent.end : next_tile;
#pragma unroll 1
  for (; i < end; i += blockDim.x) {
    if (i < extent.packs) {
      store<P, store_hint>(dst + i, load<P, load_hint>(src + i));
    } else if (i >= extent.tail_first) {
      using Element = typename P::Element;
      const std::size_t k = extent.packs * P::count + (i - extent.tail_first);
      reinterpret_cast<Element*>(dst)[k] = reinterpret_cast<const Element*>(src)[k];
    }
  }
}

template <ElementType type>
using ElementOf =
    std::tuple_element_t<static_cast<int>(type),
                         std::tuple<std::int8_t, __half, __nv_bfloat16, float, double>>;

template <CopyShape shape>
void launch(const CopyRun& run, cudaStream_t stream) {
  using Element = ElementOf<shape.type>;
  using P = Pack<Element, shape.vector>;
  const std::size_t tile = static_cast<std::size_t>(run.threads) * shape.unroll;
  Extent extent;
  extent.packs = run.bytes / sizeof(P);
  const std::size_t leftover = (run.bytes - extent.packs * sizeof(P)) / sizeof(Element);
  extent.tail_first = (extent.packs + 31) / 32 * 32;
  extent.end = leftover > 0 ? extent.tail_first + leftover : extent.packs;
  extent.whole_tiles = run.one_by_one ? 0 : static_cast<unsigned>(extent.packs / tile);
  const auto blocks = static_cast<unsigned>((extent.end + tile - 1) / tile);
  copy<P, shape.unroll, shape.load, shape.store><<<blocks, run.threads, 0, stream>>>(
      reinterpret_cast<const P*>(run.src), reinterpret_cast<P*>(run.dst), extent);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace

SourceLines plain_copy_lines() {
  return {load_call_line, plain_load_line, store_call_line, plain_store_line};
}

void launch_copy(const CopyShape& shape, const CopyRun& run, cudaStream_t stream) {
  with_place<all_shapes>(shape, [&](auto place) { launch<all_shapes[place]>(run, stream); });
}

}  // namespace fathom::copy_bandwidth
