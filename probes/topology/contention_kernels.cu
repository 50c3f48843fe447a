#include "probes/device/access.cuh"
#include "probes/memory_latency/chase.cuh"
#include "probes/topology/one_per_sm.cuh"

namespace fathom::topology {
namespace {

constexpr int unroll = 4;
constexpr std::uint32_t word_bytes = 16;

__device__ std::uint64_t slice_of(const ContentionTask& task, std::uint32_t sm) {
  return reinterpret_cast<std::uint64_t>(task.base) + std::uint64_t{sm} * task.slice_bytes;
}

/// All threads go once through the SM's slice; the sum of the words that this one loaded. All four
/// words of a load count: the assembler makes it a narrower one otherwise.
template <Traffic traffic>
__device__ std::uint32_t pass_through(std::uint64_t slice, std::uint32_t slice_bytes,
                                      std::uint32_t sm) {
  std::uint32_t sum = 0;
  constexpr std::uint32_t group = contention_threads * unroll;
#pragma unroll 1
  for (std::uint32_t first = threadIdx.x; first < slice_bytes / word_bytes; first += group) {
    std::uint32_t words[unroll][4];
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
      const std::uint32_t index = first + k * contention_threads;
      const std::uint64_t address = slice + std::uint64_t{index} * word_bytes;
      if constexpr (traffic == Traffic::load) {
        GlobalPastL1::load<word_bytes>(words[k], address);
      } else {
        const std::uint32_t value = stored_value(sm, index);
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(address), "r"(value)
                     : "memory");
      }
    }
    if constexpr (traffic == Traffic::load) {
#pragma unroll
      for (const auto& [x, y, z, w] : words) sum += x + y + z + w;
    }
  }
  return sum;
}

/// Takes all turns one after the other, and times its own accesses in each.
template <Traffic traffic>
__device__ void be_victim(const ContentionTask& task, std::uint32_t* total) {
  ContentionReport& report = *task.report;
  const std::uint64_t slice = slice_of(task, task.victim);
  std::uint32_t sum = 0;
  if (threadIdx.x == 0) {
    report.clock_begin = clock_now();
    report.ns_begin = nanoseconds_now();
    *total = 0;
  }
  pass_through<traffic>(slice, task.slice_bytes, task.victim);
  bool late = false;  // of thread 0, which waits for the others
#pragma unroll 1
  for (std::uint32_t partner = 0; partner < task.partners; ++partner) {
    const bool alone = partner == task.victim;
    if (threadIdx.x == 0 && !late && !alone) {
      atomicExch(&report.turn.step, partner + 1);
      late = !wait_for(&report.turn.ready, 0,
                       [=](std::uint32_t ready) { return ready == partner + 1; });
    }
    if (threadIdx.x == 0 && late) atomicExch(&report.turn.failed, partner + 1);
    if (__syncthreads_or(late)) break;
    const std::int64_t start = clock_now();
#pragma unroll 1
    for (int pass = 0; pass < task.passes; ++pass)
      sum += pass_through<traffic>(slice, task.slice_bytes, task.victim);
    if constexpr (traffic == Traffic::store) __threadfence();  // they have arrived
    __syncthreads();
    if (threadIdx.x == 0) {
      report.clocks[partner] = clock_now() - start;
      atomicExch(&report.turn.done, partner + 1);
      // The next turn, its own too, begins when this partner has stopped.
      if (!alone)
        late = !wait_for(&report.turn.ready, 0, [](std::uint32_t ready) { return ready == 0; });
    }
  }
  atomicAdd(total, sum);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(&report.turn.step, turn_end);
    report.sum = *total;
    report.clock_end = clock_now();
    report.ns_end = nanoseconds_now();
  }
}

/// Streams from the moment it has the turn until the turn is over.
template <Traffic traffic>
__device__ void be_partner(const ContentionTask& task, std::uint32_t own) {
  Turn& turn = task.report->turn;
  const std::uint64_t slice = slice_of(task, own);
  bool has_turn = false;
  if (threadIdx.x == 0) {
    wait_for(&turn.step, poll_ns, [=](std::uint32_t step) { return step >= own + 1; });
    has_turn = look_at(&turn.step) == own + 1;
  }
  if (!__syncthreads_or(has_turn)) return;
  std::uint32_t sum = pass_through<traffic>(slice, task.slice_bytes, own);
  if (threadIdx.x == 0) atomicExch(&turn.ready, own + 1);
  const std::int64_t start = clock_now();
  bool over = false;
  while (!over) {
    // The answer is under way while the pass is.
    const std::uint32_t done = threadIdx.x == 0 ? look_at(&turn.done) : 0;
    sum += pass_through<traffic>(slice, task.slice_bytes, own);
    const bool patient = clock_now() - start < patience_clocks;
    over = __syncthreads_or(done >= own + 1 || !patient);
  }
  if constexpr (traffic == Traffic::store) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(&turn.ready, 0u);
  // Keeps the loads: no sum of hashes is meant to be this one, and it would be right if it were.
  if (sum == 0x5EED5EEDu) atomicOr(&turn.failed, 0u);
}

template <Traffic traffic>
__global__ void __launch_bounds__(contention_threads) contend(ContentionTask task, std::uint32_t) {
  extern __shared__ std::uint32_t total[];
  const std::uint32_t own = sm_id();
  if (own == task.victim) {
    be_victim<traffic>(task, total);
  } else if (own < task.partners) {
    be_partner<traffic>(task, own);
  } else if (threadIdx.x == 0) {
    // Holds its SM, so that the blocks that are needed go to theirs.
    wait_for(&task.report->turn.step, poll_ns, [](std::uint32_t step) { return step != 0; });
  }
}

}  // namespace

__global__ void write_slices(ContentionTask task) {
  const std::uint32_t words = task.slice_bytes / word_bytes;
  for (std::uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
    const std::uint32_t value = stored_value(blockIdx.x, i);
    *reinterpret_cast<uint4*>(slice_of(task, blockIdx.x) + std::uint64_t{i} * word_bytes) =
        make_uint4(value, value, value, value);
  }
}

void (*contention_kernel(Traffic traffic))(ContentionTask, std::uint32_t) {
  return traffic == Traffic::load ? contend<Traffic::load> : contend<Traffic::store>;
}

}  // namespace fathom::topology
