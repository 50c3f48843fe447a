#include "probes/bank_conflicts/kernels.h"
#include "probes/device/access.cuh"
#include "probes/device/launch.h"

// Every warp of a block does the same pattern on the same region, so that enough accesses are in
// flight to keep the SM's one data pipe busy: cycles per access then are wavefronts per access.

namespace fathom::bank_conflicts {
namespace {

template <int Bytes>
__device__ std::uint32_t load_sum(std::uint32_t address) {
  std::uint32_t words[Bytes / 4];
  SharedMemory::load<Bytes>(words, address);
  if constexpr (Bytes == 4)
    return words[0];
  else if constexpr (Bytes == 8)
    return words[0] + words[1];
  else
    return words[0] + words[1] + words[2] + words[3];
}

/// Stores word_value of each word's own index: lanes and warps that meet in one word agree on it.
template <int Bytes>
__device__ void store_values(std::uint32_t address, std::uint32_t first_value) {
  std::uint32_t words[Bytes / 4];
#pragma unroll
  for (int i = 0; i < Bytes / 4; ++i) words[i] = first_value + i;
  SharedMemory::store<Bytes>(address, words);
}

/// A thread's share of the region, consecutive words to consecutive lanes. Unrolled, so that the
/// number of accesses outside the timed part is exact.
template <class F>
__device__ void for_each_own_word(F&& f) {
#pragma unroll
  for (int k = 0; k < region_words / threads_per_block; ++k) f(threadIdx.x + k * threads_per_block);
}

__device__ long long* clock_slot(long long* clocks) {
  const int warp = threadIdx.x / 32;
  return clocks + 2 * (static_cast<long long>(blockIdx.x) * warps_per_block + warp);
}

__device__ bool takes_part(const Run& run, int lane) {
  return (run.active_mask >> lane & 1u) != 0 && static_cast<int>(threadIdx.x) < run.warps * 32;
}

template <models::Access op, int Bytes>
__global__ void __launch_bounds__(threads_per_block) shared_accesses(Run run) {
  constexpr bool loads = op == models::Access::load;
  __shared__ alignas(128) std::uint32_t region[region_words];
  for_each_own_word([&](int word) { region[word] = loads ? word_value(word) : ~0u; });
  const int lane = threadIdx.x % 32;
  const std::uint32_t offset = run.lane_offsets[lane];
  const std::uint32_t base = shared_address(region) + offset;
  const bool active = takes_part(run, lane);
  std::uint32_t sum = 0;
  __syncthreads();
  const long long start = clock64();
  if (active) {
#pragma unroll 1
    for (int i = 0; i < run.iterations; ++i) {
      const std::uint32_t shift = (i % windows) * window_bytes;
      const std::uint32_t value = word_value((offset + shift) / 4);
#pragma unroll
      for (int k = 0; k < accesses_per_iteration; ++k) {
        const std::uint32_t address = base + shift + k * access_step_bytes;
        if constexpr (loads)
          sum += load_sum<Bytes>(address);
        else
          store_values<Bytes>(address, value + k * (access_step_bytes / 4));
      }
    }
  }
  // Stores return nothing: the barrier is what waits until they are done.
  if constexpr (loads)
    __syncwarp();
  else
    __syncthreads();
  const long long end = clock64();
  if constexpr (loads) {
    run.out[blockIdx.x * threads_per_block + threadIdx.x] = sum;
  } else {
    for_each_own_word([&](int word) {
      run.out[static_cast<long long>(blockIdx.x) * region_words + word] = region[word];
    });
  }
  if (lane == 0) {
    clock_slot(run.clocks)[0] = start;
    clock_slot(run.clocks)[1] = end;
  }
}

}  // namespace

Kernel kernel_of(models::Access op, int bytes) {
  using enum models::Access;
  return with_constant<4, 8, 16>(bytes, [&](auto width) -> Kernel {
    return op == load ? shared_accesses<load, width> : shared_accesses<store, width>;
  });
}

}  // namespace fathom::bank_conflicts
