#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "harness/device_clocks.cuh"
#include "probes/atomics/kernels.h"

// What the kernels share: one atomic, the loop around it, and clocks around the loop. The atomic
// is inline PTX, put together from its instruction's words, and not of the atomicAdd family: of an
// address that all lanes share the compiler makes one atomic of their sum, and of one whose result
// is not used a reduction.

namespace fathom::atomics {

/// What kernels take: an instruction by its place among all.
template <std::size_t place>
struct Atomic {
  static constexpr Instruction instruction = all_instructions[place];
};

struct Value128 {
  std::uint64_t low, high;
};

template <class A>
using ValueOf = std::conditional_t<
    A::instruction.value_bytes() == 4, std::uint32_t,
    std::conditional_t<A::instruction.value_bytes() == 8, std::uint64_t,
                       std::conditional_t<A::instruction.type == Type::b128, Value128, uint4>>>;

/// The instruction's words as inline PTX takes them: an array.
template <class A, class = std::make_index_sequence<A::instruction.words().size>>
struct PtxWords;
template <class A, std::size_t... k>
struct PtxWords<A, std::index_sequence<k...>> {
  static constexpr char text[] = {A::instruction.words().characters[k]..., '\0'};
};

/// Words of a value, added up.
__device__ inline std::uint32_t folded(std::uint32_t v) { return v; }
__device__ inline std::uint32_t folded(std::uint64_t v) {
  return static_cast<std::uint32_t>(v) + static_cast<std::uint32_t>(v >> 32);
}
__device__ inline std::uint32_t folded(Value128 v) { return folded(v.low) + folded(v.high); }

// Addresses are of 8 or 4 bytes, values of as many; those of 16 have instructions of their own.
#define FATHOM_BY_SIZES(instruction, operands)                   \
  if constexpr (sizeof(Address) == 8 && sizeof(Value) == 4)      \
    instruction("l", "r", operands);                             \
  else if constexpr (sizeof(Address) == 8 && sizeof(Value) == 8) \
    instruction("l", "l", operands);                             \
  else if constexpr (sizeof(Address) == 4 && sizeof(Value) == 4) \
    instruction("r", "r", operands);                             \
  else if constexpr (sizeof(Address) == 4 && sizeof(Value) == 8) \
    instruction("r", "l", operands);

#define FATHOM_ATOM(in, of, operands)                           \
  asm volatile("atom.relaxed.%3 %0, [%1], " operands ";"        \
               : "=" of(old)                                    \
               : in(address), of(value), "C"(PtxWords<A>::text) \
               : "memory")
#define FATHOM_ATOM_OF_16_BYTES(operands)                                                    \
  asm volatile("{ .reg .b128 x, y; mov.b128 x, {%3, %4}; atom.relaxed.%5 y, [%2], " operands \
               "; mov.b128 {%0, %1}, y; }"                                                   \
               : "=l"(old.low), "=l"(old.high)                                               \
               : "l"(address), "l"(value.low), "l"(value.high), "C"(PtxWords<A>::text)       \
               : "memory")
/// Compare and swap compares with `value` and stores it.
template <class A, class Address, class Value>
__device__ Value atom(Address address, Value value) {
  Value old;
  if constexpr (A::instruction.operation == Operation::compare_swap) {
    FATHOM_BY_SIZES(FATHOM_ATOM, "%2, %2")
    else FATHOM_ATOM_OF_16_BYTES("x, x");
  } else {
    FATHOM_BY_SIZES(FATHOM_ATOM, "%2")
    else FATHOM_ATOM_OF_16_BYTES("x");
  }
  return old;
}

#define FATHOM_RED(in, of, operands)                                          \
  asm volatile("red.relaxed.%2 [%0], " operands ";" ::in(address), of(value), \
               "C"(PtxWords<A>::text)                                         \
               : "memory")
template <class A, class Address, class Value>
__device__ void red(Address address, Value value) {
  FATHOM_BY_SIZES(FATHOM_RED, "%1")
  else {
    asm volatile("red.relaxed.%5 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(value.x),
                 "r"(value.y), "r"(value.z), "r"(value.w), "C"(PtxWords<A>::text)
                 : "memory");
  }
}

/// The words of what was there before, added up; of a reduction zero.
template <class A, class Address>
__device__ std::uint32_t perform(Address address, ValueOf<A> value) {
  if constexpr (A::instruction.returns) {
    return folded(atom<A>(address, value));
  } else {
    red<A>(address, value);
    return 0;
  }
}

/// Whether the chip that is compiled for has what came with capability `since`, times ten.
template <int since>
__device__ constexpr bool chip_has() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__ >= since * 10;
#else
  return true;
#endif
}

/// The atomics of one thread, `first` being its address in the first slot. `warp` of `warps` walks
/// through the slots as `Pattern` says.
template <class A, class Address>
__device__ std::uint32_t repeat(Address first, const Run& run, std::uint32_t warp,
                                std::uint32_t warps) {
  ValueOf<A> value;
  memcpy(&value, run.operand, sizeof value);
  const std::uint32_t window = run.pattern.slots * run.pattern.slot_bytes;
  const std::uint32_t step = warps % run.pattern.slots * run.pattern.slot_bytes;
  std::uint32_t offset = warp % run.pattern.slots * run.pattern.slot_bytes;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int done = 0; done < run.iterations; done += unroll) {
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
      sum += perform<A>(first + offset, value);
      offset += step;
      offset = min(offset, offset - window);  // below the window the difference wraps round
    }
  }
  return sum;
}

/// Keeps what the atomics returned, and with it waits for all of them.
template <class A>
__device__ void keep(const Run& run, std::uint32_t sum) {
  if constexpr (A::instruction.returns) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(run.sums + blockIdx.x * blockDim.x + threadIdx.x),
                 "r"(sum)
                 : "memory");
  }
}

/// Both are followed or led by a barrier of the block: no atomic is outside of them.
__device__ inline void begin(BlockTimes* times) {
  if (threadIdx.x == 0) {
    times[blockIdx.x].ns_begin = nanoseconds_now();
    times[blockIdx.x].clock_begin = clock_now();
  }
  __syncthreads();
}
__device__ inline void end(BlockTimes* times) {
  __syncthreads();
  if (threadIdx.x == 0) {
    times[blockIdx.x].clock_end = clock_now();
    times[blockIdx.x].ns_end = nanoseconds_now();
  }
}

}  // namespace fathom::atomics
