#include "probes/model_validation/kernels.h"

#include <stdexcept>

#include "harness/cuda_check.h"
#include "probes/device/threads.cuh"
#include "probes/model_validation/regions.h"

// Each kernel has the instruction under test once. It is written in PTX, since the compiler is free
// to split, merge or drop what C++ says. A warp without an active lane ends before it: with every
// lane switched off by a predicate it would still be executed, and counted.

namespace fathom::model_validation {
namespace {

constexpr int shared_words = shared_region_bytes / 4;
constexpr int check_threads = 1024;

using Words = std::uint32_t[words_per_lane];

template <int Bytes>
__device__ void load_shared(std::uint32_t address, Words& w) {
  if constexpr (Bytes == 1) {
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(w[0]) : "r"(address) : "memory");
  } else if constexpr (Bytes == 2) {
    asm volatile("ld.shared.u16 %0, [%1];" : "=r"(w[0]) : "r"(address) : "memory");
  } else if constexpr (Bytes == 4) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w[0]) : "r"(address) : "memory");
  } else if constexpr (Bytes == 8) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(w[0]), "=r"(w[1])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(address)
                 : "memory");
  }
}

template <int Bytes>
__device__ void store_shared(std::uint32_t address, const Words& w) {
  if constexpr (Bytes == 1) {
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(w[0]) : "memory");
  } else if constexpr (Bytes == 2) {
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "r"(w[0]) : "memory");
  } else if constexpr (Bytes == 4) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(w[0]) : "memory");
  } else if constexpr (Bytes == 8) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(w[0]), "r"(w[1])
                 : "memory");
  } else {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(w[0]), "r"(w[1]),
                 "r"(w[2]), "r"(w[3])
                 : "memory");
  }
}

template <int Bytes>
__device__ void load_global(const std::byte* address, Words& w) {
  if constexpr (Bytes == 1) {
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(w[0]) : "l"(address) : "memory");
  } else if constexpr (Bytes == 2) {
    asm volatile("ld.global.u16 %0, [%1];" : "=r"(w[0]) : "l"(address) : "memory");
  } else if constexpr (Bytes == 4) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(w[0]) : "l"(address) : "memory");
  } else if constexpr (Bytes == 8) {
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(w[0]), "=r"(w[1])
                 : "l"(address)
                 : "memory");
  } else {
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "l"(address)
                 : "memory");
  }
}

template <int Bytes>
__device__ void store_global(std::byte* address, const Words& w) {
  if constexpr (Bytes == 1) {
    asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
  } else if constexpr (Bytes == 2) {
    asm volatile("st.global.u16 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
  } else if constexpr (Bytes == 4) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
  } else if constexpr (Bytes == 8) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(w[0]), "r"(w[1])
                 : "memory");
  } else {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(w[0]), "r"(w[1]),
                 "r"(w[2]), "r"(w[3])
                 : "memory");
  }
}

__device__ bool is_active(const Trial& trial) {
  return (trial.active_mask >> threadIdx.x & 1u) != 0;
}

__device__ void set_untouched(Words& w) {
  for (std::uint32_t& word : w) word = untouched;
}

/// What the lane stores at `offset`. A narrow store takes the low bytes.
__device__ void set_stored(Words& w, std::uint32_t offset) {
  for (int k = 0; k < words_per_lane; ++k) w[k] = word_value(offset / 4 + k);
  w[0] >>= 8 * (offset % 4);
}

__device__ void write_found(std::uint32_t* out, const Words& w) {
  for (int k = 0; k < words_per_lane; ++k) out[threadIdx.x * words_per_lane + k] = w[k];
}

__device__ int bytes_written(std::uint32_t word) {
  return 4 - __popc(__vcmpeq4(word, 0xFFFFFFFFu)) / 8;
}

template <int Bytes>
__global__ void __launch_bounds__(lanes) shared_load(const __grid_constant__ Trial trial) {
  if (trial.active_mask == 0) return;
  __shared__ alignas(128) std::uint32_t region[shared_words];
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < trial.fill_words; i += lanes) region[i] = word_value(i);
  __syncwarp();
  Words w;
  set_untouched(w);
  if (is_active(trial)) load_shared<Bytes>(shared_address(region) + trial.offset[threadIdx.x], w);
  if (trial.out != nullptr) write_found(trial.out, w);
}

template <int Bytes>
__global__ void __launch_bounds__(lanes) shared_store(const __grid_constant__ Trial trial) {
  if (trial.active_mask == 0) return;
  __shared__ alignas(128) std::uint32_t region[shared_words];
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < trial.fill_words; i += lanes) region[i] = untouched;
  __syncwarp();
  const std::uint32_t offset = trial.offset[threadIdx.x];
  const std::uint32_t address = shared_address(region) + offset;
  Words w;
  set_stored(w, offset);
  if (is_active(trial)) store_shared<Bytes>(address, w);
  if (trial.out == nullptr) return;
  __syncwarp();
  set_untouched(w);
  if (is_active(trial)) load_shared<Bytes>(address, w);
  write_found(trial.out, w);
  int written = 0;
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < trial.fill_words; i += lanes)
    written += bytes_written(region[i]);
  trial.out[found_values + threadIdx.x] = written;
}

template <int Bytes>
__global__ void __launch_bounds__(lanes) global_load(const __grid_constant__ Trial trial) {
  if (trial.active_mask == 0) return;
  Words w;
  set_untouched(w);
  if (is_active(trial)) load_global<Bytes>(trial.region + trial.offset[threadIdx.x], w);
  if (trial.out != nullptr) write_found(trial.out, w);
}

template <int Bytes>
__global__ void __launch_bounds__(lanes) global_store(const __grid_constant__ Trial trial) {
  if (trial.active_mask == 0) return;
  const std::uint32_t offset = trial.offset[threadIdx.x];
  Words w;
  set_stored(w, offset);
  if (is_active(trial)) store_global<Bytes>(trial.region + offset, w);
}

template <int Bytes>
__global__ void __launch_bounds__(check_threads) global_check(const __grid_constant__ Trial trial) {
  if (threadIdx.x < lanes) {
    Words w;
    set_untouched(w);
    if (is_active(trial)) load_global<Bytes>(trial.region + trial.offset[threadIdx.x], w);
    write_found(trial.out, w);
    trial.out[found_values + threadIdx.x] = 0;
  }
  __syncthreads();
  auto* vectors = reinterpret_cast<uint4*>(trial.region);
  int written = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < static_cast<int>(global_region_bytes / sizeof(uint4));
       i += check_threads) {
    const uint4 v = vectors[i];
    written += bytes_written(v.x) + bytes_written(v.y) + bytes_written(v.z) + bytes_written(v.w);
    vectors[i] = make_uint4(untouched, untouched, untouched, untouched);
  }
  if (written != 0) atomicAdd(trial.out + found_values, static_cast<std::uint32_t>(written));
}

using Kernel = void (*)(Trial);

Kernel of_width(int bytes, Kernel k1, Kernel k2, Kernel k4, Kernel k8, Kernel k16) {
  switch (bytes) {
    case 1:
      return k1;
    case 2:
      return k2;
    case 4:
      return k4;
    case 8:
      return k8;
    case 16:
      return k16;
  }
  throw std::invalid_argument("a lane accesses 1, 2, 4, 8 or 16 bytes at once");
}

void launch(Kernel kernel, const Trial& trial, int threads, cudaStream_t stream) {
  kernel<<<1, threads, 0, stream>>>(trial);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace

void launch_shared_load(int bytes, const Trial& trial, cudaStream_t stream) {
  launch(of_width(bytes, shared_load<1>, shared_load<2>, shared_load<4>, shared_load<8>,
                  shared_load<16>),
         trial, lanes, stream);
}

void launch_shared_store(int bytes, const Trial& trial, cudaStream_t stream) {
  launch(of_width(bytes, shared_store<1>, shared_store<2>, shared_store<4>, shared_store<8>,
                  shared_store<16>),
         trial, lanes, stream);
}

void launch_global_load(int bytes, const Trial& trial, cudaStream_t stream) {
  launch(of_width(bytes, global_load<1>, global_load<2>, global_load<4>, global_load<8>,
                  global_load<16>),
         trial, lanes, stream);
}

void launch_global_store(int bytes, const Trial& trial, cudaStream_t stream) {
  launch(of_width(bytes, global_store<1>, global_store<2>, global_store<4>, global_store<8>,
                  global_store<16>),
         trial, lanes, stream);
}

void launch_global_check(int bytes, const Trial& trial, cudaStream_t stream) {
  launch(of_width(bytes, global_check<1>, global_check<2>, global_check<4>, global_check<8>,
                  global_check<16>),
         trial, check_threads, stream);
}

}  // namespace fathom::model_validation
