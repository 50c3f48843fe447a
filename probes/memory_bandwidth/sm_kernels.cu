#include "probes/memory_bandwidth/global_stream.cuh"

// Chosen SMs at work while the others are idle.

namespace fathom::memory_bandwidth {
namespace {

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

}  // namespace fathom::memory_bandwidth
