#include "probes/memory_latency/chase.cuh"
#include "probes/topology/kernels.h"

namespace fathom::topology {
namespace {

using memory_latency::bracket;
using memory_latency::need;

/// Waits until a block runs on the wanted SM, or gives up after patience_clocks. It looks by
/// atomics, which are no loads by the counters, and rests in between to stay out of the way.
__device__ void wait_until_taken(std::uint32_t* taken) {
  constexpr unsigned poll_ns = 200;
  const std::int64_t start = clock64();
  while (atomicOr(taken, 0u) == 0 && clock64() - start <= patience_clocks) __nanosleep(poll_ns);
}

/// `zero` is a run-time 0, so that no atomic can be simplified away.
template <LineAccess access>
__device__ std::uint32_t read_line(std::uint64_t address, std::uint32_t zero) {
  std::uint32_t value;
  if constexpr (access == LineAccess::load) {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  } else {
    asm volatile("atom.global.add.u32 %0, [%1], %2;"
                 : "=r"(value)
                 : "l"(address), "r"(zero)
                 : "memory");
  }
  return value;
}

/// What the measuring thread keeps in shared memory, followed by the times as in the report.
struct Scratch {
  std::uint32_t sink, zero;
  std::uint32_t offsets[max_lines];  ///< of the lines from the base
};

/// One thread's part.
template <LineAccess access>
__device__ void time_lines(const LineTask& task, Scratch& scratch, std::uint32_t* times,
                           std::uint32_t zero) {
  const std::uint32_t slot = shared_address(&scratch.sink);
  const auto base = reinterpret_cast<std::uint64_t>(task.lines.base);
  // Twice, so that the second time finds the code in the instruction cache.
#pragma unroll 1
  for (int i = 0; i < 2 * empty_brackets; ++i) {
    const std::int64_t start = clock_now();
    need(zero, slot);
    const std::int64_t end = clock_now();
    task.report->empty[i % empty_brackets] = bracket(start, end);
    __threadfence_block();  // the next bracket finds no store under way
  }
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int r = 0; r < task.repeats; ++r) {
#pragma unroll 1
    for (std::uint32_t i = 0; i < task.lines.count; ++i) {
      // Instructions issue in order, so the clock is read when this sum has what it waits for: the
      // offset, and the operand of an atomic, which would otherwise be fetched after the clock.
      const std::uint32_t operand = *static_cast<volatile std::uint32_t*>(&scratch.zero);
      const std::uint64_t address = base + (scratch.offsets[i] + operand);
      const std::int64_t start = clock_now();
      const std::uint32_t value = read_line<access>(address, operand);
      need(value, slot);
      const std::int64_t end = clock_now();
      times[r * task.lines.count + i] = bracket(start, end);
      sum += value;
      __threadfence_block();
    }
  }
  task.report->sum = sum;
}

template <LineAccess access>
__global__ void __launch_bounds__(latency_threads)
    line_latencies(LineTask task, std::uint32_t zero) {
  extern __shared__ std::uint32_t words[];
  LineReport& report = *task.report;
  bool mine = false;
  if (threadIdx.x == 0) {
    if (sm_id() == task.smid) {
      mine = atomicAdd(&report.taken, 1u) == 0;
    } else {
      // Stays until the wanted SM has its block: a block that left would make room for that one.
      wait_until_taken(&report.taken);
    }
  }
  if (!__syncthreads_or(mine)) return;

  Scratch& scratch = *reinterpret_cast<Scratch*>(words);
  std::uint32_t* times = words + sizeof(Scratch) / sizeof(std::uint32_t);
  const auto base = reinterpret_cast<std::uint64_t>(task.lines.base);
  std::uint32_t seen = 0;
  for (std::uint32_t i = threadIdx.x; i < task.lines.count; i += latency_threads) {
    const std::uint64_t offset = line_offset(task.lines, i);
    scratch.offsets[i] = static_cast<std::uint32_t>(offset);
  }
  // Pass by pass: the assembler makes one of two loads of a line that stand beside each other.
#pragma unroll 1
  for (int pass = 0; pass < warm_passes; ++pass) {
#pragma unroll 1
    for (std::uint32_t i = threadIdx.x; i < task.lines.count; i += latency_threads)
      seen += read_line<access>(base + scratch.offsets[i], zero);
  }
  if (threadIdx.x == 0) {
    scratch.zero = zero;
    report.smid = task.smid;
  }
  // Waits for what the loads brought: none is under way when the timing begins.
  if (__syncthreads_or(seen == 0x5EED5EEDu)) report.smid = task.smid;
  if (threadIdx.x == 0) time_lines<access>(task, scratch, times, zero);
  __syncthreads();
  const std::uint32_t all = task.lines.count * static_cast<std::uint32_t>(task.repeats);
  for (std::uint32_t i = threadIdx.x; i < all; i += latency_threads) report.times[i] = times[i];
}

}  // namespace

__global__ void write_lines(Lines lines) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lines.count) return;
  *reinterpret_cast<std::uint32_t*>(lines.base + line_offset(lines, i)) = line_value(lines, i);
}

void (*line_kernel(LineAccess access))(LineTask, std::uint32_t zero) {
  return access == LineAccess::load ? line_latencies<LineAccess::load>
                                    : line_latencies<LineAccess::atomic_add>;
}

}  // namespace fathom::topology
