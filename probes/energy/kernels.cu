#include "probes/energy/kernels.h"

#include "probes/device/access.cuh"
#include "probes/device/launch.h"

namespace fathom::energy {
namespace {

constexpr std::uint32_t chunk_packs = chunk_bytes / 16;
constexpr int warps = walk_threads / 32;

template <Level level>
__device__ __forceinline__ void load(std::uint32_t (&words)[4], const uint4* p) {
  if constexpr (level == Level::shared)
    SharedMemory::load<16>(words, shared_address(p));
  else if constexpr (level == Level::l1)
    GlobalMemory::load<16>(words, reinterpret_cast<std::uint64_t>(p));
  else
    GlobalPastL1::load<16>(words, reinterpret_cast<std::uint64_t>(p));
}

/// The sum over the block's threads, in thread 0.
__device__ std::uint32_t block_sum(std::uint32_t sum) {
  __shared__ std::uint32_t of_warp[warps];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  std::uint32_t total = 0;
  for (int w = 0; w < warps; ++w) total += of_warp[w];
  return total;
}

template <Level level>
__global__ void __launch_bounds__(walk_threads) walk_chunks(Walk walk) {
  constexpr bool shared = level == Level::shared;
  __shared__ uint4 stage[shared ? shared_chunks * chunk_packs : 1];
  const auto* data = reinterpret_cast<const uint4*>(walk.data);
  const std::uint32_t mask = walk.chunks * chunk_packs - 1;
  if constexpr (shared) {
    for (std::uint32_t i = threadIdx.x; i <= mask; i += walk_threads) stage[i] = data[i];
    __syncthreads();
    data = stage;
  }
  std::uint32_t at = (blockIdx.x * chunk_spread * chunk_packs & mask) + threadIdx.x;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < walk.turns; ++turn) {
    std::uint32_t v[loads_per_turn][4];
#pragma unroll
    for (int i = 0; i < loads_per_turn; ++i) load<level>(v[i], data + at + i * walk_threads);
#pragma unroll
    for (int i = 0; i < loads_per_turn; ++i) {
      sum += v[i][0] + v[i][1];
      sum += v[i][2] + v[i][3];
    }
    at = (at + chunk_packs) & mask;
  }
  const std::uint32_t total = block_sum(sum);
  if (threadIdx.x == 0) walk.sums[blockIdx.x] = total;
}

auto kernel_of(Level level) {
  return with_constant<Level::shared, Level::l1, Level::l2>(
      level, [](auto from) { return walk_chunks<from>; });
}

}  // namespace

__global__ void __launch_bounds__(rest_threads) rest(int turns, std::uint32_t* out) {
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) __nanosleep(sleep_ns);
  out[blockIdx.x * rest_threads + threadIdx.x] = static_cast<std::uint32_t>(turns);
}

void launch_walk(Level level, const Walk& walk, int blocks, cudaStream_t stream) {
  const auto kernel = kernel_of(level);
  // The L1 is what shared memory leaves.
  FATHOM_CUDA(cudaFuncSetAttribute(
      kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
      level == Level::shared ? cudaSharedmemCarveoutMaxShared : cudaSharedmemCarveoutMaxL1));
  launch(kernel, {blocks, walk_threads}, stream, walk);
}

int walk_blocks_per_sm(Level level) { return resident_blocks_of(kernel_of(level), walk_threads); }

}  // namespace fathom::energy
