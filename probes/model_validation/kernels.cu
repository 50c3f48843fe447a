#include "probes/device/access.cuh"
#include "probes/device/launch.h"
#include "probes/model_validation/kernels.h"

namespace fathom::model_validation {

// Each kernel has the instruction under test once. It is written in PTX, since the compiler is free
// to split, merge or drop what C++ says. A warp without an active lane ends before it: with every
// lane switched off by a predicate it would still be executed, and counted.

namespace {

constexpr int shared_words = shared_region_bytes / 4;
constexpr int check_threads = 1024;

using Words = std::uint32_t[words_per_lane];

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

template <class Memory, models::Access op, int Bytes>
__global__ void __launch_bounds__(lanes) access(const __grid_constant__ Trial trial) {
  if (trial.active_mask == 0) return;
  constexpr bool in_shared = std::is_same_v<Memory, SharedMemory>;
  constexpr bool loads = op == models::Access::load;
  typename Memory::Address base;
  __shared__ alignas(128) std::uint32_t region[in_shared ? shared_words : 1];
  if constexpr (in_shared) {
#pragma unroll 1
    for (std::uint32_t i = threadIdx.x; i < trial.fill_words; i += lanes)
      region[i] = loads ? word_value(i) : untouched;
    __syncwarp();
    base = shared_address(region);
  } else {
    base = reinterpret_cast<std::uint64_t>(trial.region);
  }
  const std::uint32_t offset = trial.offset[threadIdx.x];
  const typename Memory::Address address = base + offset;
  Words w;
  if constexpr (loads) {
    set_untouched(w);
    if (is_active(trial)) Memory::template load<Bytes>(w, address);
  } else {
    set_stored(w, offset);
    if (is_active(trial)) Memory::template store<Bytes>(address, w);
  }
  if constexpr (!loads && !in_shared) return;  // global_check looks
  if (trial.out == nullptr) return;
  if constexpr (!loads) {
    __syncwarp();
    set_untouched(w);
    if (is_active(trial)) Memory::template load<Bytes>(w, address);
  }
  write_found(trial.out, w);
  if constexpr (loads) return;
  int written = 0;
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < trial.fill_words; i += lanes)
    written += bytes_written(region[i]);
  trial.out[found_values + threadIdx.x] = written;
}

template <int Bytes>
__global__ void __launch_bounds__(check_threads) global_check(const __grid_constant__ Trial trial) {
  if (threadIdx.x < lanes) {
    Words w;
    set_untouched(w);
    if (is_active(trial))
      GlobalMemory::load<Bytes>(
          w, reinterpret_cast<std::uint64_t>(trial.region) + trial.offset[threadIdx.x]);
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

}  // namespace

void launch_access(Space space, models::Access op, int bytes, const Trial& trial,
                   cudaStream_t stream) {
  using enum models::Access;
  with_constant<1, 2, 4, 8, 16>(bytes, [&](auto width) {
    const auto kernel = space == Space::shared
                            ? (op == load ? access<SharedMemory, load, width>
                                          : access<SharedMemory, store, width>)
                            : (op == load ? access<GlobalMemory, load, width>
                                          : access<GlobalMemory, store, width>);
    launch(kernel, {1, lanes}, stream, trial);
  });
}

void launch_global_check(int bytes, const Trial& trial, cudaStream_t stream) {
  with_constant<1, 2, 4, 8, 16>(bytes, [&](auto width) {
    launch(global_check<width>, {1, check_threads}, stream, trial);
  });
}

namespace {

/// Holds `Readings` readings of the clock, which the compiler can neither repeat nor foresee, and
/// takes `SharedWords` words of static shared memory. How many registers that is, the compiler
/// decides (some fifty fewer than readings, on GH100): the driver is asked, and a compiled-code
/// test sees to it that they differ.
template <int Readings, int SharedWords>
__global__ void occupant(volatile unsigned* memory) {
  unsigned held[Readings];
#pragma unroll
  for (int i = 0; i < Readings; ++i) asm volatile("mov.u32 %0, %%clock;" : "=r"(held[i])::"memory");
  // Known after a loop only, so that nothing can be computed from the readings before it.
  unsigned seed = 0;
#pragma unroll 1
  for (unsigned i = 0; i < *memory; ++i) seed += memory[i];
#pragma unroll
  for (int i = 0; i < Readings; ++i) seed = (seed ^ held[i]) * 3;
  if constexpr (SharedWords > 0) {
    __shared__ volatile unsigned words[SharedWords];
    words[threadIdx.x % SharedWords] = seed;
    __syncthreads();
    seed ^= words[(threadIdx.x + 1) % SharedWords];
  }
  *memory = seed;
}

}  // namespace

const std::array<Occupant, 16> occupants{
    occupant<1, 0>,    occupant<66, 0>,    occupant<76, 0>,     occupant<84, 0>,
    occupant<92, 0>,   occupant<102, 0>,   occupant<112, 0>,    occupant<126, 0>,
    occupant<142, 0>,  occupant<164, 0>,   occupant<196, 0>,    occupant<236, 0>,
    occupant<60, 256>, occupant<80, 1250>, occupant<104, 4096>, occupant<150, 10240>};

}  // namespace fathom::model_validation
