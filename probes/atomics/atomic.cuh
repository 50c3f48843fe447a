#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

// One atomic as inline PTX, put together from its words. PTX and not the
// atomicAdd family: of an address that all lanes share the compiler makes one atomic of their
// sum, and of one whose result is not used a reduction.

namespace fathom::atomics {

struct Cta {
  static constexpr char name[] = "cta";
};
struct Gpu {
  static constexpr char name[] = "gpu";
};
struct Sys {
  static constexpr char name[] = "sys";
};
struct ClusterScope {
  static constexpr char name[] = "cluster";
};

struct Add {
  static constexpr char name[] = "add";
};
struct AddHalves {
  static constexpr char name[] = "add.noftz";
};
struct AddVector {
  static constexpr char name[] = "add.v4";
};
struct Min {
  static constexpr char name[] = "min";
};
struct Max {
  static constexpr char name[] = "max";
};
struct And {
  static constexpr char name[] = "and";
};
struct Exch {
  static constexpr char name[] = "exch";
};
struct Cas {
  static constexpr char name[] = "cas";
};

struct Value128 {
  std::uint64_t low, high;
};
struct Value4 {
  std::uint32_t words[4];
};

struct U32 {
  using Value = std::uint32_t;
  static constexpr char name[] = "u32";
};
struct S32 {
  using Value = std::uint32_t;
  static constexpr char name[] = "s32";
};
struct B32 {
  using Value = std::uint32_t;
  static constexpr char name[] = "b32";
};
struct F32 {
  using Value = std::uint32_t;
  static constexpr char name[] = "f32";
};
struct F16x2 {
  using Value = std::uint32_t;
  static constexpr char name[] = "f16x2";
};
struct Bf16x2 {
  using Value = std::uint32_t;
  static constexpr char name[] = "bf16x2";
};
struct U64 {
  using Value = std::uint64_t;
  static constexpr char name[] = "u64";
};
struct B64 {
  using Value = std::uint64_t;
  static constexpr char name[] = "b64";
};
struct F64 {
  using Value = std::uint64_t;
  static constexpr char name[] = "f64";
};
struct B128 {
  using Value = Value128;
  static constexpr char name[] = "b128";
};
struct F32x4 {
  using Value = Value4;
  static constexpr char name[] = "f32";
};

/// Words of a value, added up.
__device__ inline std::uint32_t folded(std::uint32_t v) { return v; }
__device__ inline std::uint32_t folded(std::uint64_t v) {
  return static_cast<std::uint32_t>(v) + static_cast<std::uint32_t>(v >> 32);
}
__device__ inline std::uint32_t folded(Value128 v) { return folded(v.low) + folded(v.high); }

// What the parts of an atomic are called is in its template argument `W`, for Words.

template <class W, class Address, class Value>
__device__ Value atom(Address address, Value value) {
  Value old;
  if constexpr (sizeof(Address) == 8 && sizeof(Value) == 4) {
    asm volatile("atom.relaxed.%3.%4.%5.%6 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(address), "r"(value), "C"(W::Scope::name), "C"(W::Space::name),
                   "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  } else if constexpr (sizeof(Address) == 8 && sizeof(Value) == 8) {
    asm volatile("atom.relaxed.%3.%4.%5.%6 %0, [%1], %2;"
                 : "=l"(old)
                 : "l"(address), "l"(value), "C"(W::Scope::name), "C"(W::Space::name),
                   "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  } else if constexpr (sizeof(Address) == 4 && sizeof(Value) == 4) {
    asm volatile("atom.relaxed.%3.%4.%5.%6 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(address), "r"(value), "C"(W::Scope::name), "C"(W::Space::name),
                   "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  } else if constexpr (sizeof(Address) == 4 && sizeof(Value) == 8) {
    asm volatile("atom.relaxed.%3.%4.%5.%6 %0, [%1], %2;"
                 : "=l"(old)
                 : "r"(address), "l"(value), "C"(W::Scope::name), "C"(W::Space::name),
                   "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  } else {
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
template <class W, class Address, class Value>
__device__ Value compare_swap(Address address, Value value) {
  Value old;
  if constexpr (sizeof(Address) == 8 && sizeof(Value) == 4) {
    asm volatile("atom.relaxed.%3.%4.cas.%5 %0, [%1], %2, %2;"
                 : "=r"(old)
                 : "l"(address), "r"(value), "C"(W::Scope::name), "C"(W::Space::name),
                   "C"(W::Type::name)
                 : "memory");
  } else if constexpr (sizeof(Address) == 8 && sizeof(Value) == 8) {
    asm volatile("atom.relaxed.%3.%4.cas.%5 %0, [%1], %2, %2;"
                 : "=l"(old)
                 : "l"(address), "l"(value), "C"(W::Scope::name), "C"(W::Space::name),
                   "C"(W::Type::name)
                 : "memory");
  } else if constexpr (sizeof(Address) == 4 && sizeof(Value) == 4) {
    asm volatile("atom.relaxed.%3.%4.cas.%5 %0, [%1], %2, %2;"
                 : "=r"(old)
                 : "r"(address), "r"(value), "C"(W::Scope::name), "C"(W::Space::name),
                   "C"(W::Type::name)
                 : "memory");
  } else if constexpr (sizeof(Address) == 4 && sizeof(Value) == 8) {
    asm volatile("atom.relaxed.%3.%4.cas.%5 %0, [%1], %2, %2;"
                 : "=l"(old)
                 : "r"(address), "l"(value), "C"(W::Scope::name), "C"(W::Space::name),
                   "C"(W::Type::name)
                 : "memory");
  } else {
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

template <class W, class Address, class Value>
__device__ void red(Address address, Value value) {
  if constexpr (std::is_same_v<Value, Value4>) {
    asm volatile("red.relaxed.%5.%6.%7.%8 [%0], {%1, %2, %3, %4};" ::"l"(address),
                 "r"(value.words[0]), "r"(value.words[1]), "r"(value.words[2]), "r"(value.words[3]),
                 "C"(W::Scope::name), "C"(W::Space::name), "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  } else if constexpr (sizeof(Address) == 8 && sizeof(Value) == 4) {
    asm volatile("red.relaxed.%2.%3.%4.%5 [%0], %1;" ::"l"(address), "r"(value),
                 "C"(W::Scope::name), "C"(W::Space::name), "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  } else if constexpr (sizeof(Address) == 8) {
    asm volatile("red.relaxed.%2.%3.%4.%5 [%0], %1;" ::"l"(address), "l"(value),
                 "C"(W::Scope::name), "C"(W::Space::name), "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  } else if constexpr (sizeof(Value) == 4) {
    asm volatile("red.relaxed.%2.%3.%4.%5 [%0], %1;" ::"r"(address), "r"(value),
                 "C"(W::Scope::name), "C"(W::Space::name), "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  } else {
    asm volatile("red.relaxed.%2.%3.%4.%5 [%0], %1;" ::"r"(address), "l"(value),
                 "C"(W::Scope::name), "C"(W::Space::name), "C"(W::Op::name), "C"(W::Type::name)
                 : "memory");
  }
}

struct Atom {
  static constexpr char name[] = "atom";
};
struct Red {
  static constexpr char name[] = "red";
};

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
