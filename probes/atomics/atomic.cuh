#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

// One atomic as inline PTX, put together from its words. PTX and not the
// atomicAdd family: of an address that all lanes share the compiler makes one atomic of their
// sum, and of one whose result is not used a reduction.

namespace fathom::atomics {

// Words, and types by the values that hold them.
#define FATHOM_WORD(Name, text)          \
  struct Name {                          \
    static constexpr char name[] = text; \
  };
#define FATHOM_TYPE(Name, ValueType, text) \
  struct Name {                            \
    using Value = ValueType;               \
    static constexpr char name[] = text;   \
  };

FATHOM_WORD(Atom, "atom")
FATHOM_WORD(Red, "red")

FATHOM_WORD(Cta, "cta")
FATHOM_WORD(Gpu, "gpu")
FATHOM_WORD(Sys, "sys")
FATHOM_WORD(ClusterScope, "cluster")

FATHOM_WORD(Add, "add")
FATHOM_WORD(AddHalves, "add.noftz")
FATHOM_WORD(AddVector, "add.v4")
FATHOM_WORD(Min, "min")
FATHOM_WORD(Max, "max")
FATHOM_WORD(And, "and")
FATHOM_WORD(Exch, "exch")
FATHOM_WORD(Cas, "cas")

struct Value128 {
  std::uint64_t low, high;
};
struct Value4 {
  std::uint32_t words[4];
};

FATHOM_TYPE(U32, std::uint32_t, "u32")
FATHOM_TYPE(S32, std::uint32_t, "s32")
FATHOM_TYPE(B32, std::uint32_t, "b32")
FATHOM_TYPE(F32, std::uint32_t, "f32")
FATHOM_TYPE(F16x2, std::uint32_t, "f16x2")
FATHOM_TYPE(Bf16x2, std::uint32_t, "bf16x2")
FATHOM_TYPE(U64, std::uint64_t, "u64")
FATHOM_TYPE(B64, std::uint64_t, "b64")
FATHOM_TYPE(F64, std::uint64_t, "f64")
FATHOM_TYPE(B128, Value128, "b128")
FATHOM_TYPE(F32x4, Value4, "f32")

/// Words of a value, added up.
__device__ inline std::uint32_t folded(std::uint32_t v) { return v; }
__device__ inline std::uint32_t folded(std::uint64_t v) {
  return static_cast<std::uint32_t>(v) + static_cast<std::uint32_t>(v >> 32);
}
__device__ inline std::uint32_t folded(Value128 v) { return folded(v.low) + folded(v.high); }

// What the parts of an atomic are called is in its template argument `W`, for Words. Addresses are
// of 8 or 4 bytes, values of as many; those of 16 have instructions of their own.
#define FATHOM_BY_SIZES(instruction)                             \
  if constexpr (sizeof(Address) == 8 && sizeof(Value) == 4)      \
    instruction("l", "r");                                       \
  else if constexpr (sizeof(Address) == 8 && sizeof(Value) == 8) \
    instruction("l", "l");                                       \
  else if constexpr (sizeof(Address) == 4 && sizeof(Value) == 4) \
    instruction("r", "r");                                       \
  else if constexpr (sizeof(Address) == 4 && sizeof(Value) == 8) \
    instruction("r", "l");

#define FATHOM_ATOM(in, of)                                                        \
  asm volatile("atom.relaxed.%3.%4.%5.%6 %0, [%1], %2;"                            \
               : "=" of(old)                                                       \
               : in(address), of(value), "C"(W::Scope::name), "C"(W::Space::name), \
                 "C"(W::Op::name), "C"(W::Type::name)                              \
               : "memory")
template <class W, class Address, class Value>
__device__ Value atom(Address address, Value value) {
  Value old;
  FATHOM_BY_SIZES(FATHOM_ATOM)
  else {
    asm volatile(
        "{ .reg .b128 x, y; mov.b128 x, {%3, %4}; atom.relaxed.%5.%6.%7.%8 y, [%2], x; "
        "mov.b128 {%0, %1}, y; }"
        : "=l"(old.low), "=l"(old.high)
        : "l"(address), "l"(value.low), "l"(value.high), "C"(W::Scope::name), "C"(W::Space::name),
          "C"(W::Op::name), "C"(W::Type::name)
        : "memory");
  }
  return old;
}

/// Compares with `value` and stores it.
#define FATHOM_CAS(in, of)                                                         \
  asm volatile("atom.relaxed.%3.%4.cas.%5 %0, [%1], %2, %2;"                       \
               : "=" of(old)                                                       \
               : in(address), of(value), "C"(W::Scope::name), "C"(W::Space::name), \
                 "C"(W::Type::name)                                                \
               : "memory")
template <class W, class Address, class Value>
__device__ Value compare_swap(Address address, Value value) {
  Value old;
  FATHOM_BY_SIZES(FATHOM_CAS)
  else {
    asm volatile(
        "{ .reg .b128 x, y; mov.b128 x, {%3, %4}; atom.relaxed.%5.%6.cas.%7 y, [%2], x, x; "
        "mov.b128 {%0, %1}, y; }"
        : "=l"(old.low), "=l"(old.high)
        : "l"(address), "l"(value.low), "l"(value.high), "C"(W::Scope::name), "C"(W::Space::name),
          "C"(W::Type::name)
        : "memory");
  }
  return old;
}

#define FATHOM_RED(in, of)                                                                        \
  asm volatile("red.relaxed.%2.%3.%4.%5 [%0], %1;" ::in(address), of(value), "C"(W::Scope::name), \
               "C"(W::Space::name), "C"(W::Op::name), "C"(W::Type::name)                          \
               : "memory")
template <class W, class Address, class Value>
__device__ void red(Address address, Value value) {
  FATHOM_BY_SIZES(FATHOM_RED)
  else {
    asm volatile("red.relaxed.%5.%6.%7.%8 [%0], {%1, %2, %3, %4};" ::"l"(address),
                 "r"(value.words[0]), "r"(value.words[1]), "r"(value.words[2]), "r"(value.words[3]),
                 "C"(W::Scope::name), "C"(W::Space::name), "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  }
}

/// One instruction. `needs`: the first compute capability, times ten, that has it.
template <class FormOf, class ScopeOf, class SpaceOf, class OpOf, class TypeOf, int needs = 75>
struct Atomic {
  using Form = FormOf;
  using Scope = ScopeOf;
  using Space = SpaceOf;
  using Op = OpOf;
  using Type = TypeOf;
  using Value = typename Type::Value;
  static constexpr bool returns = std::is_same_v<Form, Atom>;
  static constexpr int since = needs;

  /// The words of what was there before, added up; of a reduction zero.
  template <class Address>
  __device__ static std::uint32_t perform(Address address, Value value) {
    if constexpr (!returns) {
      red<Atomic>(address, value);
      return 0;
    } else if constexpr (std::is_same_v<Op, Cas>) {
      return folded(compare_swap<Atomic>(address, value));
    } else {
      return folded(atom<Atomic>(address, value));
    }
  }

  static std::string ptx() {
    return std::string(Form::name) + "." + Scope::name + "." + Space::name + "." + Op::name + "." +
           Type::name;
  }
};

}  // namespace fathom::atomics
