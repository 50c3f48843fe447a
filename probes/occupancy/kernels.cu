#include "probes/occupancy/kernels.h"

#include <algorithm>

#include "probes/device/access.cuh"
#include "probes/device/launch.h"

namespace fathom::occupancy {
namespace {

/// Registers that hold something from before the copy until after it: readings of the clock, which
/// the compiler can neither repeat nor foresee.
template <int Count>
struct Ballast {
  unsigned held[Count];
  __device__ Ballast() {
#pragma unroll
    for (int i = 0; i < Count; ++i) asm volatile("mov.u32 %0, %%clock;" : "=r"(held[i])::"memory");
  }
  /// `seed` is known after the copy only, and each step needs the one before: nothing of this can
  /// be computed earlier to free the registers.
  __device__ unsigned combined_with(unsigned seed) const {
#pragma unroll
    for (int i = 0; i < Count; ++i) seed = (seed ^ held[i]) * 3;
    return seed;
  }
};

template <>
struct Ballast<0> {};

/// Several loads a thread stride through L1 lines that are of no further use: not allocating them
/// is what lets such a copy reach the bandwidth of one load a thread. They are volatile: else the
/// compiler may sink each load to its store, and they are in flight one by one.
template <int Vectors>
__device__ void copy_some(const uint4* src, uint4* dst, std::size_t first, std::size_t step) {
  uint4 value[Vectors];
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
    const uint4* from = src + first + v * step;
    if constexpr (Vectors == 1) {
      value[v] = *from;
    } else {
      std::uint32_t words[4];
      GlobalUnallocated::load<16>(words, reinterpret_cast<std::uint64_t>(from));
      value[v] = make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
#pragma unroll
  for (int v = 0; v < Vectors; ++v) dst[first + v * step] = value[v];
}

template <int Vectors>
__global__ void one_shot_copy(const uint4* src, uint4* dst, std::size_t, unsigned) {
  const std::size_t first =
      static_cast<std::size_t>(blockIdx.x) * blockDim.x * Vectors + threadIdx.x;
  copy_some<Vectors>(src, dst, first, blockDim.x);
}

template <int Vectors, int BallastRegisters>
__global__ void persistent_copy(const uint4* src, uint4* dst, std::size_t count,
                                unsigned unlikely) {
  const Ballast<BallastRegisters> ballast;
  const std::size_t per_block = static_cast<std::size_t>(blockDim.x) * Vectors;
  std::size_t block = blockIdx.x;
  for (; block * per_block < count; block += gridDim.x)
    copy_some<Vectors>(src, dst, block * per_block + threadIdx.x, blockDim.x);
  if constexpr (BallastRegisters > 0) {
    // Uses the ballast. Should the value turn up by chance, a right element is written once more.
    if (ballast.combined_with(static_cast<unsigned>(block)) == unlikely)
      dst[threadIdx.x] = src[threadIdx.x];
  }
}

constexpr Variant variants[] = {{false, 1},     {false, 4},     {true, 4},
                                {true, 1},      {true, 1, 64},  {true, 1, 80},
                                {true, 1, 112}, {true, 1, 164}, {true, 1, 214}};
static_assert(std::ranges::all_of(ballasts, [](int registers) {
  return std::ranges::count(variants, registers, &Variant::ballast) > 0;
}));

}  // namespace

Kernel kernel_of(const Variant& variant) {
  return with_place<variants>(
      variant,
      [](auto place) -> Kernel {
        constexpr Variant v = variants[place];
        if constexpr (v.persistent)
          return persistent_copy<v.vectors, v.ballast>;
        else
          return one_shot_copy<v.vectors>;
      });
}

}  // namespace fathom::occupancy
