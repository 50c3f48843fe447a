#include <algorithm>

#include "probes/atomics/kernels.h"
#include "probes/device/launch.h"

namespace fathom::atomics {
namespace {

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

void launch_count_wrong(const Check& check, cudaStream_t stream) {
  const auto words = check.pattern.window_bytes() / 4;
  const dim3 blocks(static_cast<unsigned>(std::clamp<std::uint64_t>(words / 256, 1, 2048)),
                    static_cast<unsigned>(std::min(check.regions, 512)));
  count_wrong<<<blocks, 256, 0, stream>>>(check);
  FATHOM_CUDA(cudaGetLastError());
}

Kernel find_kernel(const std::string& ptx) {
  static const std::map<std::string, Kernel> all = [] {
    std::map<std::string, Kernel> kernels = global_kernels();
    kernels.merge(shared_kernels());
    return kernels;
  }();
  const auto found = all.find(ptx);
  if (found == all.end()) throw std::out_of_range("no kernel for " + ptx);
  return found->second;
}

void launch(Kernel kernel, Level level, const Run& run, int blocks, int threads,
            cudaStream_t stream) {
  const int shared_bytes = level == Level::l2 ? 0 : static_cast<int>(run.pattern.window_bytes());
  ClusterLaunch(level == Level::cluster ? cluster_size : 1, blocks, threads, shared_bytes, stream)(
      kernel, run);
}

}  // namespace fathom::atomics
