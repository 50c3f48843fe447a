#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdexcept>

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

template <class P, int Unroll = 1, LoadHint load_hint = LoadHint::none,
          StoreHint store_hint = StoreHint::none>
void launch(const CopyRun& run, cudaStream_t stream) {
  const auto threads = static_cast<std::size_t>(run.threads);
  const std::size_t tile = threads * Unroll;
  Extent extent;
  extent.packs = run.bytes / sizeof(P);
  const std::size_t leftover =
      (run.bytes - extent.packs * sizeof(P)) / sizeof(typename P::Element);
  extent.tail_first = (extent.packs + 31) / 32 * 32;
  extent.end = leftover > 0 ? extent.tail_first + leftover : extent.packs;
  extent.whole_tiles = run.one_by_one ? 0 : static_cast<unsigned>(extent.packs / tile);
  const auto blocks = static_cast<unsigned>((extent.end + tile - 1) / tile);
  copy<P, Unroll, load_hint, store_hint><<<blocks, run.threads, 0, stream>>>(
      reinterpret_cast<const P*>(run.src), reinterpret_cast<P*>(run.dst), extent);
  FATHOM_CUDA(cudaGetLastError());
}

using Launcher = void (*)(const CopyRun&, cudaStream_t);

template <class T>
Launcher by_vector(int vector) {
  return with_constant<1, 2, 4, 8, 16, 32>(
      vector,
      [](auto count) -> Launcher {
        if constexpr (sizeof(T) * count <= 32)
          return launch<Pack<T, count>>;
        else
          throw std::invalid_argument("packs have 32 bytes at most");
      });
}

template <class P>
Launcher by_unroll(int unroll) {
  return with_constant<4, 16, 32>(unroll, [](auto of) -> Launcher { return launch<P, of>; });
}

using FloatPack = Pack<float, 4>;

Launcher by_hint(LoadHint load, StoreHint store) {
  using L = LoadHint;
  using S = StoreHint;
  if (load == L::evict_last && store == S::evict_first)
    return launch<FloatPack, 1, L::evict_last, S::evict_first>;
  if (store == S::none) {
    return with_constant<L::none, L::non_coherent, L::no_allocate, L::streaming, L::not_cached,
                         L::evict_first, L::evict_last>(
        load, [](auto hint) -> Launcher { return launch<FloatPack, 1, hint>; });
  }
  return with_constant<S::streaming, S::write_through, S::no_allocate, S::evict_first>(
      store, [](auto hint) -> Launcher { return launch<FloatPack, 1, L::none, hint>; });
}

Launcher launcher_of(const CopyShape& shape) {
  const bool four_floats = shape.type == ElementType::float32 && shape.vector == 4;
  const bool single =
      shape.vector == 1 && (shape.type == ElementType::int8 || shape.type == ElementType::half);
  const bool both_hints =
      shape.load != LoadHint::none && shape.store != StoreHint::none &&
      !(shape.load == LoadHint::evict_last && shape.store == StoreHint::evict_first);
  const bool hinted = shape.load != LoadHint::none || shape.store != StoreHint::none;
  if (both_hints || (hinted && !(four_floats && shape.unroll == 1)) ||
      (shape.unroll != 1 && !four_floats && !single))
    throw std::invalid_argument("no such shape of the copy kernel");
  if (four_floats && shape.unroll == 1) return by_hint(shape.load, shape.store);
  if (four_floats) {
    return with_constant<2, 4>(
        shape.unroll, [](auto of) -> Launcher { return launch<FloatPack, of>; });
  }
  switch (shape.type) {
    case ElementType::int8:
      return shape.unroll == 1 ? by_vector<std::int8_t>(shape.vector)
                               : by_unroll<Pack<std::int8_t, 1>>(shape.unroll);
    case ElementType::half:
      return shape.unroll == 1 ? by_vector<__half>(shape.vector)
                               : by_unroll<Pack<__half, 1>>(shape.unroll);
    case ElementType::bfloat16: return by_vector<__nv_bfloat16>(shape.vector);
    case ElementType::float32: return by_vector<float>(shape.vector);
    case ElementType::float64: return by_vector<double>(shape.vector);
  }
  throw std::invalid_argument("no such shape of the copy kernel");
}

}  // namespace

SourceLines plain_copy_lines() {
  return {load_call_line, plain_load_line, store_call_line, plain_store_line};
}

void launch_copy(const CopyShape& shape, const CopyRun& run, cudaStream_t stream) {
  launcher_of(shape)(run, stream);
}

}  // namespace fathom::copy_bandwidth
