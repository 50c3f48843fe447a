#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "probes/atomics/patterns.h"

// One atomic as inline PTX, put together from its instruction's words. PTX and not the atomicAdd
// family: of an address that all lanes share the compiler makes one atomic of their sum, and of one
// whose result is not used a reduction.

namespace fathom::atomics {

/// What kernels take: an instruction by its place among all.
template <std::size_t place>
struct Atomic {
  static constexpr Instruction instruction = all_instructions[place];
};

struct Value128 {
  std::uint64_t low, high;
};
struct Value4 {
  std::uint32_t words[4];
};

template <class A>
using ValueOf = std::conditional_t<
    A::instruction.value_bytes() == 4, std::uint32_t,
    std::conditional_t<A::instruction.value_bytes() == 8, std::uint64_t,
                       std::conditional_t<A::instruction.type == Type::b128, Value128, Value4>>>;

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
    asm volatile("red.relaxed.%5 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(value.words[0]),
                 "r"(value.words[1]), "r"(value.words[2]), "r"(value.words[3]),
                 "C"(PtxWords<A>::text)
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

}  // namespace fathom::atomics
