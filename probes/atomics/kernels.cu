#include <algorithm>

#include "probes/atomics/atomic.cuh"
#include "probes/device/launch.h"

// Global memory, and what checks that and what is left of shared memory.

namespace fathom::atomics {
namespace {

template <class A>
__global__ void __launch_bounds__(most_threads) global_atomics(Run run) {
  if constexpr (chip_has<A::instruction.since>()) {
    const std::uint32_t lane = threadIdx.x % 32, warps_per_block = blockDim.x / 32;
    const std::uint64_t first =
        reinterpret_cast<std::uint64_t>(run.memory) + lane * run.pattern.lane_bytes;
    begin(run.times);
    if (lane < run.pattern.active_lanes) {
      keep<A>(run, repeat<A>(first, run, blockIdx.x * warps_per_block + threadIdx.x / 32,
                             gridDim.x * warps_per_block));
    }
    __threadfence();  // until the reductions, which nothing else waits for, are performed
    end(run.times);
  }
}

/// The word that the pattern leaves at `word` of its window.
__device__ std::uint32_t expected_word(const Check& check, std::uint32_t word) {
  const Pattern& p = check.pattern;
  const std::uint32_t slot = word * 4 / p.slot_bytes, place = word * 4 % p.slot_bytes;
  const std::uint32_t lane = p.lane_bytes == 0 ? 0 : place / p.lane_bytes;
  const std::uint32_t in_lane = place - lane * p.lane_bytes;
  const std::uint32_t lanes = p.lane_bytes == 0 ? 1 : p.active_lanes;
  if (lane >= lanes || in_lane >= static_cast<std::uint32_t>(check.value_bytes)) return check.start;
  const Words& value =
      slot < check.expected.slots_with_more ? check.expected.value_with_more : check.expected.value;
  return reinterpret_cast<const std::uint32_t*>(&value)[in_lane / 4];
}

__global__ void count_wrong(const __grid_constant__ Check check) {
  const std::uint32_t words = check.pattern.slots * check.pattern.slot_bytes / 4;
  const auto* memory = reinterpret_cast<const std::uint32_t*>(check.memory);
  unsigned int wrong = 0;
  for (int region = blockIdx.y; region < check.regions; region += gridDim.y) {
    for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words;
         i += gridDim.x * blockDim.x)
      if (memory[std::uint64_t{static_cast<unsigned>(region)} * words + i] !=
          expected_word(check, i))
        ++wrong;
  }
  if (wrong > 0) atomicAdd(check.wrong, static_cast<unsigned long long>(wrong));
}

}  // namespace

Kernel find_kernel(const Instruction& instruction) {
  return with_place<all_instructions>(
      instruction, [&](auto place) -> Kernel {
        if constexpr (all_instructions[place].level == Level::l2)
          return global_atomics<Atomic<place>>;
        else
          return shared_kernel(instruction);
      });
}

void launch_count_wrong(const Check& check, cudaStream_t stream) {
  const auto words = check.pattern.window_bytes() / 4;
  const dim3 blocks(static_cast<unsigned>(std::clamp<std::uint64_t>(words / 256, 1, 2048)),
                    static_cast<unsigned>(std::min(check.regions, 512)));
  count_wrong<<<blocks, 256, 0, stream>>>(check);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::atomics
