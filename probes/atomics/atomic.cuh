#pragma once

#include <cstdint>
#include <string>

#include "probes/atomics/kernels.h"

// One atomic as inline PTX, put together from its words, and the loop around it. PTX and not the
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

__device__ inline std::uint64_t pair_of(const std::uint32_t* words) {
  return words[0] | std::uint64_t{words[1]} << 32;
}
template <class Value>
__device__ Value value_of(const std::uint32_t* words) {
  if constexpr (sizeof(Value) == 4) {
    return words[0];
  } else if constexpr (sizeof(Value) == 8) {
    return pair_of(words);
  } else if constexpr (std::is_same_v<Value, Value128>) {
    return {pair_of(words), pair_of(words + 2)};
  } else {
    return {{words[0], words[1], words[2], words[3]}};
  }
}

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
  const auto value = value_of<typename A::Value>(run.operand);
  const std::uint32_t window = run.pattern.slots * run.pattern.slot_bytes;
  const std::uint32_t step = warps % run.pattern.slots * run.pattern.slot_bytes;
  std::uint32_t offset = warp % run.pattern.slots * run.pattern.slot_bytes;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int i = 0; i < run.iterations; i += unroll) {
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
      sum += A::perform(first + offset, value);
      offset += step;
      offset = min(offset, offset - window);  // below the window the difference wraps round
    }
  }
  return sum;
}

/// Keeps what the atomics returned, and with it waits for all of them.
template <class A>
__device__ void keep(const Run& run, std::uint32_t sum) {
  if constexpr (A::returns) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(run.sums + blockIdx.x * blockDim.x + threadIdx.x),
                 "r"(sum)
                 : "memory");
  }
}

__device__ inline long long clock_now() {
  long long t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
__device__ inline long long nanoseconds_now() {
  long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
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
