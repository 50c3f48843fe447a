#include "harness/buffers.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <type_traits>

#include "harness/cuda_check.h"
#include "harness/device_clocks.cuh"
#include "harness/timing_kernels.h"

namespace fathom {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): a counter-based generator, so each element's bits depend
/// on seed and index only and a fill needs no state.
__device__ std::uint64_t split_mix(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ double uniform(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-52 - 1.0;
}

/// Box and Muller, "A note on the generation of random normal deviates" (1958): from the two halves
/// of one random word, so that a value is never beyond 6.7 standard deviations.
__device__ double normal(std::uint64_t bits) {
  const double radius_squared = -2 * log((static_cast<double>(bits >> 32) + 1) * 0x1.0p-32);
  return sqrt(radius_squared) * cospi(static_cast<double>(bits & 0xFFFFFFFFu) * 0x1.0p-31);
}

/// An element of a kind of data, from one random word.
struct Uniform {
  template <class T>
  static __device__ T element(std::uint64_t bits) {
    if constexpr (std::is_same_v<T, std::uint64_t>)
      return bits;
    else
      return static_cast<T>(uniform(bits));
  }
};
struct Normal {
  template <class T>
  static __device__ T element(std::uint64_t bits) {
    if constexpr (std::is_same_v<T, signed char>)
      return static_cast<T>(fmin(fmax(rint(32 * normal(bits)), -127.0), 127.0));
    else if constexpr (std::is_same_v<T, int>)
      return static_cast<T>(rint(1000 * normal(bits)));
    else
      return static_cast<T>(normal(bits));
  }
};

template <class T, class Kind>
__global__ void fill_with(T* data, std::size_t count, std::uint64_t seed) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    data[i] = Kind::template element<T>(split_mix(seed, i));
}

/// Works on bytes at the ragged end only; the rest goes 8 bytes at a time.
__global__ void count_differences(const std::byte* a, const std::byte* b, std::size_t bytes,
                                  unsigned long long* count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b)) % 8 == 0;
  const std::size_t words = aligned ? bytes / 8 : 0;
  unsigned long long found = 0;
  for (std::size_t i = first; i < words; i += stride) {
    std::uint64_t difference =
        reinterpret_cast<const std::uint64_t*>(a)[i] ^ reinterpret_cast<const std::uint64_t*>(b)[i];
    for (; difference != 0; difference >>= 8) found += (difference & 0xFF) != 0;
  }
  for (std::size_t i = words * 8 + first; i < bytes; i += stride) found += a[i] != b[i];
  if (found != 0) atomicAdd(count, found);
}

constexpr int threads = 256;

int blocks_for(std::size_t count) {
  return static_cast<int>(std::min<std::size_t>((count + threads - 1) / threads, 8192));
}

template <class T, class Kind>
void launch_fill(std::byte* data, std::size_t bytes, std::uint64_t seed, cudaStream_t stream) {
  const std::size_t count = bytes / sizeof(T);
  if (count == 0) return;
  fill_with<T, Kind>
      <<<blocks_for(count), threads, 0, stream>>>(reinterpret_cast<T*>(data), count, seed);
  FATHOM_CUDA(cudaGetLastError());
}

__global__ void wait_for_host(const volatile int* release, volatile int* timed_out,
                              std::uint64_t limit_ns) {
  const std::uint64_t start = nanoseconds_now();
  while (*release == 0) {
    if (nanoseconds_now() - start > limit_ns) {
      *timed_out = 1;
      return;
    }
    __nanosleep(200);
  }
}

__global__ void read_all(const uint4* data, std::size_t count, int* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned int seen = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const uint4 value = data[i];
    seen |= value.x | value.y | value.z | value.w;
  }
  // The buffer holds random bits, so an all-zero OR does not happen; the compiler cannot know.
  if (seen == 0) *sink = 1;
}

__global__ void stamp_sms(SmStamp* stamps) {
  const unsigned sm = sm_id();
  ulonglong2 now{};
  now.x = clock_now();
  now.y = nanoseconds_now();
  // One store of both: several blocks meet the same SM, and their stamps must not mix.
  if (sm < most_sms) *reinterpret_cast<ulonglong2*>(stamps + sm) = now;
}

}  // namespace

void fill_random_data(std::byte* data, std::size_t bytes, Fill fill, std::uint64_t seed,
                      cudaStream_t stream) {
  // In the order of Fill.
  constexpr void (*fills[])(std::byte*, std::size_t, std::uint64_t, cudaStream_t) = {
      launch_fill<std::uint64_t, Uniform>, launch_fill<float, Uniform>,
      launch_fill<double, Uniform>,        launch_fill<__half, Uniform>,
      launch_fill<__nv_bfloat16, Uniform>, launch_fill<float, Normal>,
      launch_fill<double, Normal>,         launch_fill<__half, Normal>,
      launch_fill<__nv_bfloat16, Normal>,  launch_fill<__nv_fp8_e4m3, Normal>,
      launch_fill<signed char, Normal>,    launch_fill<int, Normal>};
  fills[static_cast<int>(fill)](data, bytes, seed, stream);
}

std::uint64_t count_different_bytes(const void* a, const void* b, std::size_t bytes,
                                    cudaStream_t stream) {
  unsigned long long* count = nullptr;
  FATHOM_CUDA(cudaMallocAsync(reinterpret_cast<void**>(&count), sizeof *count, stream));
  FATHOM_CUDA(cudaMemsetAsync(count, 0, sizeof *count, stream));
  if (bytes != 0) {
    count_differences<<<blocks_for(bytes / 8 + 1), threads, 0, stream>>>(
        static_cast<const std::byte*>(a), static_cast<const std::byte*>(b), bytes, count);
    FATHOM_CUDA(cudaGetLastError());
  }
  unsigned long long result = 0;
  FATHOM_CUDA(cudaMemcpyAsync(&result, count, sizeof result, cudaMemcpyDeviceToHost, stream));
  FATHOM_CUDA(cudaStreamSynchronize(stream));
  FATHOM_CUDA(cudaFreeAsync(count, stream));
  return result;
}

void launch_wait_for_host(const volatile int* release, volatile int* timed_out,
                          std::uint64_t limit_ns, cudaStream_t stream) {
  wait_for_host<<<1, 1, 0, stream>>>(release, timed_out, limit_ns);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_read_all(const std::byte* data, std::size_t bytes, int* sink, cudaStream_t stream) {
  read_all<<<1024, 256, 0, stream>>>(reinterpret_cast<const uint4*>(data), bytes / sizeof(uint4),
                                     sink);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_stamp_sms(SmStamp* stamps, cudaStream_t stream) {
  stamp_sms<<<most_sms, 1, 0, stream>>>(stamps);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom
