#include <array>

#include "probes/memory_bandwidth/stream.cuh"

// The walk through global memory: of all SMs, and of chosen ones while the others are idle.

namespace fathom::memory_bandwidth {
namespace {

constexpr int max_threads = 1024;

/// The walk of the calling block, which is number `block` of those that share out the work.
template <Operation operation, Path path, int width, int loads>
__device__ __forceinline__ void walk_global(const GlobalRun& run, std::uint32_t block) {
  using Space = Global<path>;
  const Walk& walk = run.walk;
  const std::uint64_t base =
      reinterpret_cast<std::uint64_t>(operation == Operation::store ? run.dst : run.src);
  const std::uint64_t end = base + block * walk.block_region + walk.span;
  const std::uint64_t p =
      base + walk.start(block, threadIdx.x / warp_lanes) + threadIdx.x % warp_lanes * width;
  const std::uint32_t thread = block * blockDim.x + threadIdx.x;
  const Vector<width> value = value_to_store<width>(thread);
  __syncthreads();
  Stopwatch stopwatch(run.reports + thread / warp_lanes);
  const std::uint64_t distance = reinterpret_cast<std::uint64_t>(run.dst) - base;
  stopwatch.stop(stream<operation, width, loads, Space>(p, end, walk.step, walk.span, walk.tiles,
                                                        distance, value));
}

template <Operation operation, Path path, int width, int loads>
__global__ void __launch_bounds__(max_threads) stream_global(GlobalRun run) {
  walk_global<operation, path, width, loads>(run, blockIdx.x);
}

/// After so many clocks an idle block no longer waits for the others, whatever happened to them.
constexpr std::int64_t patience_clocks = 2'000'000;

/// Keeps the SM taken until every block has an SM of its own: a block that left at once could make
/// room for one that is yet to start, and a chosen SM might go without.
__device__ void wait_until_all_have_started(unsigned* started, unsigned last) {
  constexpr unsigned poll_ns = 100;
  const std::int64_t start = clock_now();
  while (atomicAdd(started, 0u) < last && clock_now() - start < patience_clocks)
    __nanosleep(poll_ns);
}

using Kernel = void (*)(GlobalRun);

/// Those that have a kernel.
constexpr auto accesses = [] {
  using enum Operation;
  using enum Path;
  return std::to_array<Access>(
      {{load, cached, 4, 4},       {load, cached, 8, 4},       {load, cached, 16, 4},
       {load, cached, 16, 8},      {load, l2_only, 4, 4},      {load, l2_only, 8, 4},
       {load, l2_only, 16, 1},     {load, l2_only, 16, 2},     {load, l2_only, 16, 4},
       {load, l2_only, 16, 8},     {load, no_allocate, 16, 4}, {load, no_allocate, 16, 8},
       {store, l2_only, 4, 4},     {store, l2_only, 8, 4},     {store, l2_only, 16, 4},
       {copy, l2_only, 4, 4},      {copy, l2_only, 8, 4},      {copy, l2_only, 16, 4}});
}();

}  // namespace

__global__ void __launch_bounds__(max_threads, 1) stream_on_sms(SmRun run) {
  const std::uint32_t sm = sm_id();
  const std::uint32_t place = place_of_sm(sm, gridDim.x);
  const bool idle = sm >= gridDim.x || place >= static_cast<std::uint32_t>(run.global.blocks);
  if (threadIdx.x == 0) {
    // Counted on from launch to launch, so that nothing need be reset in between.
    const unsigned before = atomicAdd(run.started, 1u);
    if (idle) wait_until_all_have_started(run.started, (before / gridDim.x + 1) * gridDim.x);
  }
  if (idle) return;
  walk_global<Operation::load, Path::l2_only, 16, 4>(run.global, place);
}

Kernel global_kernel(const Access& access) {
  return with_place<accesses>(
      access, [](auto place) -> Kernel {
        constexpr Access a = accesses[place];
        return stream_global<a.operation, a.path, a.width, a.loads>;
      });
}

}  // namespace fathom::memory_bandwidth
