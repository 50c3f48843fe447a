#include <cstdint>
#include <stdexcept>

#include "probes/device/launch.h"
#include "probes/occupancy/kernels.h"

namespace fathom::occupancy_probe {
namespace {

using Kernel = void (*)(const uint4*, uint4*, std::size_t, unsigned);

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

/// Several loads a thread stride through L1 lines that are of no further use: not allocating them is
/// what lets such a copy reach the bandwidth of one load a thread.
template <int Vectors>
__device__ uint4 load(const uint4* address) {
  if constexpr (Vectors == 1) {
    return *address;
  } else {
    uint4 v;
    // volatile: else the compiler may sink each load to its store, and they are in flight one by one
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address));
    return v;
  }
}

template <int Vectors>
__device__ void copy_some(const uint4* src, uint4* dst, std::size_t first, std::size_t step) {
  uint4 value[Vectors];
#pragma unroll
  for (int v = 0; v < Vectors; ++v) value[v] = load<Vectors>(src + first + v * step);
#pragma unroll
  for (int v = 0; v < Vectors; ++v) dst[first + v * step] = value[v];
}

template <int Vectors>
__global__ void one_shot_copy(const uint4* src, uint4* dst, std::size_t, unsigned) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x * Vectors + threadIdx.x;
  copy_some<Vectors>(src, dst, first, blockDim.x);
}

template <int Vectors, int BallastRegisters>
__global__ void persistent_copy(const uint4* src, uint4* dst, std::size_t count, unsigned unlikely) {
  const Ballast<BallastRegisters> ballast;
  const std::size_t per_block = static_cast<std::size_t>(blockDim.x) * Vectors;
  std::size_t block = blockIdx.x;
  for (; block * per_block < count; block += gridDim.x) {
    copy_some<Vectors>(src, dst, block * per_block + threadIdx.x, blockDim.x);
  }
  if constexpr (BallastRegisters > 0) {
    // Uses the ballast. Should the value turn up by chance, a right element is written once more.
    if (ballast.combined_with(static_cast<unsigned>(block)) == unlikely) dst[threadIdx.x] = src[threadIdx.x];
  }
}

Kernel kernel_of(const Variant& variant) {
  if (variant.grid == GridKind::one_shot) {
    if (variant.ballast == 0 && variant.vectors == 1) return one_shot_copy<1>;
    if (variant.ballast == 0 && variant.vectors == 4) return one_shot_copy<4>;
  } else if (variant.vectors == 4) {
    if (variant.ballast == 0) return persistent_copy<4, 0>;
  } else if (variant.vectors == 1) {
    return with_constant<0, 64, 80, 112, 164, 214>(
        variant.ballast, [](auto ballast) -> Kernel { return persistent_copy<1, ballast>; });
  }
  throw std::invalid_argument("no such variant of the occupancy probe's copy");
}

}  // namespace

void launch_copy(const Variant& variant, const Launch& launch, cudaStream_t stream) {
  kernel_of(variant)<<<launch.blocks, launch.threads, launch.dynamic_shared, stream>>>(
      reinterpret_cast<const uint4*>(launch.src), reinterpret_cast<uint4*>(launch.dst),
      launch.bytes / sizeof(uint4), 0x2545F491u);
  FATHOM_CUDA(cudaGetLastError());
}

KernelFacts facts_of(const Variant& variant, int threads, int dynamic_shared) {
  const Kernel kernel = kernel_of(variant);
  // The device's maximum, not this configuration's: the attribute stays with the kernel, and other
  // configurations share it.
  int device = 0, maximum = 0;
  FATHOM_CUDA(cudaGetDevice(&device));
  FATHOM_CUDA(cudaDeviceGetAttribute(&maximum, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, maximum));
  cudaFuncAttributes attributes{};
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  KernelFacts facts;
  facts.registers = attributes.numRegs;
  facts.static_shared = static_cast<int>(attributes.sharedSizeBytes);
  facts.local_bytes = static_cast<int>(attributes.localSizeBytes);
  facts.resident_blocks = resident_blocks_of(kernel, threads, dynamic_shared);
  return facts;
}

}  // namespace fathom::occupancy_probe
