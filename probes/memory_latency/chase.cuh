#pragma once

#include <cstdint>

#include "harness/device_clocks.cuh"
#include "probes/device/access.cuh"
#include "probes/memory_latency/kernels.h"

// What the chases through all kinds of memory share. A `Space` says how to load:
//   Address load(Address)  the address that memory holds there

namespace fathom::memory_latency {

/// Loads `next` from `p` by inline PTX, both in registers of the kind `of`; its further operands
/// are %2 and on.
#define FATHOM_CHASE_LOAD(of, ptx, ...) \
  asm volatile(ptx : "=" of(next) : of(p) __VA_OPT__(, ) __VA_ARGS__ : "memory")

/// A store cannot issue before its operand is there, and what follows it in program order issues
/// later: this is what makes a clock read wait for a load.
__device__ inline void need(std::uint32_t value, std::uint32_t slot) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(slot), "r"(value) : "memory");
}

/// The difference of two clocks, which needs all their bits: where 32 would do, the compiler reads
/// the first clock with an instruction that takes far longer (S2UR instead of CS2R on Hopper).
__device__ inline std::uint32_t bracket(std::int64_t start, std::int64_t end) {
  const std::int64_t clocks = end - start;
  return clocks > 0xFFFFFFFFll ? 0xFFFFFFFFu : static_cast<std::uint32_t>(clocks);
}

__device__ inline void begin_report(Report* report) {
  if (threadIdx.x != 0) return;
  report->clock_begin = clock_now();
  report->ns_begin = nanoseconds_now();
}

__device__ inline void end_report(Report* report) {
  if (threadIdx.x != 0) return;
  report->clock_end = clock_now();
  report->ns_end = nanoseconds_now();
}

template <class Space, class Address>
__device__ void chase_mean(const Space& space, Address p, const Chase& chase) {
  std::uint32_t sum = 0;
  const std::int64_t start = clock_now();
#pragma unroll 1
  for (int i = 0; i < chase.loads; i += chase_unroll) {
#pragma unroll
    for (int k = 0; k < chase_unroll; ++k) {
      const Address next = space.load(p);
      sum += static_cast<std::uint32_t>(p);  // while the load is under way
      p = next;
    }
  }
  // Needs p, as `need` does, without taking shared memory from the L1.
  asm volatile("st.global.u64 [%0], %1;" ::"l"(&chase.report->end),
               "l"(static_cast<std::uint64_t>(p))
               : "memory");
  const std::int64_t end = clock_now();
  chase.report->clocks = end - start;
  chase.report->sum = sum;
}

template <class Space, class Address>
__device__ void chase_each(const Space& space, Address p, const Chase& chase) {
  __shared__ std::uint32_t times[max_timed_loads];
  __shared__ std::uint32_t empty[empty_brackets];
  __shared__ std::uint32_t sink;
  const std::uint32_t slot = shared_address(&sink);
  std::uint32_t sum = 0;
  // Twice, so that the second time finds the code in the instruction cache.
#pragma unroll 1
  for (int i = 0; i < 2 * empty_brackets; ++i) {
    __threadfence_block();  // the bracket finds no store under way
    const std::int64_t start = clock_now();
    need(static_cast<std::uint32_t>(p), slot);
    const std::int64_t end = clock_now();
    empty[i % empty_brackets] = bracket(start, end);
  }
#pragma unroll 1
  for (int i = 0; i < chase.loads; ++i) {
    // At the top: the address is moved to its register before, or the load would wait for it within
    // the bracket.
    __threadfence_block();
    const std::int64_t start = clock_now();
    const Address next = space.load(p);
    need(static_cast<std::uint32_t>(next), slot);
    const std::int64_t end = clock_now();
    times[i] = bracket(start, end);
    sum += static_cast<std::uint32_t>(p);
    p = next;
  }
  for (int i = 0; i < empty_brackets; ++i) chase.report->empty[i] = empty[i];
  for (int i = 0; i < chase.loads; ++i) chase.report->times[i] = times[i];
  chase.report->end = static_cast<std::uint64_t>(p);
  chase.report->sum = sum;
}

template <Timed timed, class Space, class Address>
__device__ void run_chase(const Space& space, Address start, std::uint64_t base,
                          const Chase& chase) {
  Address p = start;
#pragma unroll 1
  for (int i = 0; i < chase.walked_loads; ++i) p = space.load(p);
  chase.report->base = base;
  if constexpr (timed == Timed::mean)
    chase_mean(space, p, chase);
  else
    chase_each(space, p, chase);
}

template <class F>
auto with_timed(Timed timed, F&& f) {
  return with_constant<Timed::mean, Timed::each>(timed, f);
}

}  // namespace fathom::memory_latency
