#pragma once

#include <type_traits>

#include "harness/device_clocks.cuh"
#include "probes/device/access.cuh"
#include "probes/memory_bandwidth/kernels.h"

// The one loop that moves bytes, through a `Space` of access.cuh. Tiles are touched by immediate
// offsets from one address, so that a turn of the loop is little more than its loads or stores.

namespace fathom::memory_bandwidth {

template <Path path>
using Global =
    std::conditional_t<path == Path::cached, GlobalMemory,
                       std::conditional_t<path == Path::l2_only, GlobalPastL1, GlobalUnallocated>>;

template <int width>
struct Vector {
  std::uint32_t word[width / 4];
};

__device__ inline std::uint32_t warp_sum(std::uint32_t sum) {
  for (int mask = warp_lanes / 2; mask > 0; mask /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, mask);
  return sum;
}

__device__ inline std::uint32_t grid_warp() {
  return (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
}

/// The report of the calling warp. The end needs the warp's sum, so that no load is still under
/// way.
class Stopwatch {
 public:
  __device__ explicit Stopwatch(WarpReport* report) : report_(report) {
    ns_start_ = nanoseconds_now();
    start_ = clock_now();
  }

  __device__ void stop(std::uint32_t sum) {
    sum = warp_sum(sum);
    if (threadIdx.x % warp_lanes != 0) return;
    // A store cannot issue before its operand is there, and the clock is read behind it.
    asm volatile("st.global.u32 [%0], %1;" ::"l"(&report_->sum), "r"(sum) : "memory");
    report_->end = clock_now();
    report_->ns_end = nanoseconds_now();
    report_->start = start_;
    report_->ns_start = ns_start_;
    report_->sm = sm_id();
  }

 private:
  WarpReport* report_;
  std::uint64_t ns_start_;
  std::int64_t start_;
};

template <int width, int loads, class Space>
__device__ __forceinline__ void load_tile(Vector<width> (&values)[loads],
                                          typename Space::Address p) {
#pragma unroll
  for (int i = 0; i < loads; ++i)
    Space::template load<width>(values[i].word, p + i * (width * warp_lanes));
}

template <int width, int loads, class Space>
__device__ __forceinline__ void store_tile(typename Space::Address p,
                                           const Vector<width> (&values)[loads]) {
#pragma unroll
  for (int i = 0; i < loads; ++i)
    Space::template store<width>(p + i * (width * warp_lanes), values[i].word);
}

template <int width>
__device__ __forceinline__ void add_words(std::uint32_t& sum, const Vector<width>& value) {
#pragma unroll
  for (int w = 0; w < width / 4; ++w) sum += value.word[w];
}

/// The walk of the calling thread from `p`, until `end` and back by `span`. Loads: the sum of their
/// words. Stores: `value`, everywhere. Copies: to the same place `distance` further on.
template <Operation operation, int width, int loads, class Space, class Address>
__device__ __forceinline__ std::uint32_t stream(Address p, Address end, Address step, Address span,
                                                int tiles, Address distance,
                                                const Vector<width>& value) {
  std::uint32_t sum = 0;
  Vector<width> values[loads];
  if constexpr (operation == Operation::load) {
    // Adding keeps the loads, two words an instruction. A tile's values are added in the next turn:
    // where one turn did both, the compiler saved registers by waiting for a tile's first load
    // before it issued its last, and fewer were in flight than `loads`.
    load_tile<width, loads, Space>(values, p);
#pragma unroll 1
    while (--tiles > 0) {
      p += step;
      if (p >= end) p -= span;
#pragma unroll
      for (int i = 0; i < loads; ++i) {
        add_words(sum, values[i]);
        Space::template load<width>(values[i].word, p + i * (width * warp_lanes));
      }
    }
#pragma unroll
    for (int i = 0; i < loads; ++i) add_words(sum, values[i]);
  } else {
    if constexpr (operation == Operation::store)
#pragma unroll
      for (int i = 0; i < loads; ++i) values[i] = value;
#pragma unroll 1
    for (; tiles > 0; --tiles) {
      if constexpr (operation == Operation::copy) load_tile<width, loads, Space>(values, p);
      store_tile<width, loads, Space>(operation == Operation::copy ? p + distance : p, values);
      p += step;
      if (p >= end) p -= span;
    }
  }
  return sum;
}

template <int width>
__device__ __forceinline__ Vector<width> value_to_store(std::uint32_t thread) {
  Vector<width> value;
#pragma unroll
  for (int w = 0; w < width / 4; ++w)
    value.word[w] = store_value(thread, static_cast<std::uint32_t>(w));
  return value;
}

}  // namespace fathom::memory_bandwidth
