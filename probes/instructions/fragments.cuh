#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "probes/instructions/chain.cuh"

// Matrices of small whole numbers for the tensor instructions: every product and sum is exact in
// every type, also in fp16's accumulators. A is negated in odd steps, so that accumulators stay
// small however often a chain adds to them.

namespace fathom::instructions {

/// -2 to 2.
inline int value_of_a(int row, int k, int parity = 0) {
  const int value = static_cast<int>(hashed(64 * row + k) % 5) - 2;
  return parity == 0 ? value : -value;
}
inline int value_of_b(int k, int column) {
  return static_cast<int>(hashed(100'000 + 512 * k + column) % 5) - 2;
}
/// 1 to 16: what an accumulator starts from.
inline int value_of_c(int row, int column, int chain) {
  return static_cast<int>(hashed(200'000 + 1000 * chain + 512 * row + column) % 16) + 1;
}

// Element types: how a small whole number is written, and how many a register holds.
template <int Bytes>
struct WordElement {
  using Register = std::uint32_t;
  static constexpr int bytes = Bytes;
};
struct F16 : WordElement<2> {
  static std::uint32_t bits(int v) { return __half_as_ushort(__int2half_rn(v)); }
  static constexpr std::uint32_t random_bits = 0x83FF83FF, one = 0x3C003C00, signs = 0x80008000;
};
struct Bf16 : WordElement<2> {
  static std::uint32_t bits(int v) { return __bfloat16_as_ushort(__float2bfloat16(float(v))); }
  static constexpr std::uint32_t random_bits = 0x807F807F, one = 0x3F803F80, signs = 0x80008000;
};
struct Tf32 : WordElement<4> {
  static std::uint32_t bits(int v) { return __builtin_bit_cast(std::uint32_t, float(v)); }
  static constexpr std::uint32_t random_bits = 0x807FE000, one = 0x3F800000, signs = 0x80000000;
};
struct S8 : WordElement<1> {
  static std::uint32_t bits(int v) { return static_cast<std::uint8_t>(v); }
  // Byte by byte; an odd byte's lowest bit stays as it is.
  static constexpr std::uint32_t random_bits = ~0u, one = 0x01010101, signs = 0xFEFEFEFE;
};
/// 1 sign bit, 4 exponent bits with bias 7, 3 mantissa bits: 1 is 0x38, 2 is 0x40.
struct E4m3 : WordElement<1> {
  static std::uint32_t bits(int v) {
    const int size = v < 0 ? -v : v;
    return (v < 0 ? 0x80u : 0u) | (size == 0 ? 0u : size == 1 ? 0x38u : 0x40u);
  }
  static constexpr std::uint32_t random_bits = 0x87878787, one = 0x38383838, signs = 0x80808080;
};
struct F64 {
  using Register = double;
  static constexpr int bytes = 8;
};

/// Register `i` of random numbers from 1 to 2 in size, of either sign; integers from -127 to 127,
/// odd ones.
template <class Element>
typename Element::Register random_register(std::uint32_t i) {
  if constexpr (std::is_same_v<Element, F64>) {
    const double size = 1 + (hashed(2 * i) + 0x1p-32 * hashed(2 * i + 1)) * 0x1p-32;
    return hashed(~i) % 2 == 0 ? size : -size;
  } else {
    return (hashed(i) & Element::random_bits) | Element::one;
  }
}

template <class Element>
typename Element::Register negated(typename Element::Register word) {
  if constexpr (std::is_same_v<Element, F64>)
    return -word;
  else
    return word ^ Element::signs;
}

/// `count` consecutive elements of a row in one register, f(0) lowest.
template <class Element, class F>
typename Element::Register packed(F&& f) {
  if constexpr (std::is_same_v<Element, F64>) {
    return f(0);
  } else {
    std::uint32_t word = 0;
    for (int i = 0; i < 4 / Element::bytes; ++i)
      word |= Element::bits(f(i)) << 8 * Element::bytes * i;
    return word;
  }
}

// Accumulators: how many a register holds, and what they are worth.
template <class T, class RegisterType = std::uint32_t>
struct WholeSum {
  using Register = RegisterType;
  static constexpr int per_register = 1;
  static double value(Register r, int) { return __builtin_bit_cast(T, r); }
  static void add(Register& r, int, int v) {
    r = __builtin_bit_cast(Register, static_cast<T>(value(r, 0) + v));
  }
};
using F32Sum = WholeSum<float>;
using S32Sum = WholeSum<std::int32_t>;
using F64Sum = WholeSum<double, double>;
struct F16Sum {
  using Register = std::uint32_t;
  static constexpr int per_register = 2;
  static double value(Register r, int i) {
    return __half2float(__ushort_as_half(r >> 16 * i & 0xFFFF));
  }
  static void add(Register& r, int i, int v) {
    const Register sum = __half_as_ushort(__double2half(value(r, i) + v));
    r = (r & ~(0xFFFFu << 16 * i)) | sum << 16 * i;
  }
};

template <class Sum, int Registers>
struct Accumulators {
  typename Sum::Register r[Registers];
};

/// Row and column of accumulator `i` of a lane, for mma's 16 (or 8) rows by 8 columns and, since
/// wgmma repeats that layout every 8 columns, for a warp's 16 rows of wgmma (PTX ISA, "Matrix
/// fragments for mma" and "Register fragments for wgmma").
inline int row_of(int lane, int i) { return lane / 4 + 8 * (i / 2 % 2); }
inline int column_of(int lane, int i) { return lane % 4 * 2 + i % 2 + 8 * (i / 4); }

/// A chain is an accumulator, of `Rows` rows.
template <class ElementType, class SumType, int Rows, int Columns, int K, int Registers>
struct TensorOp : DefaultSizes {
  using Element = ElementType;
  using Sum = SumType;
  static constexpr int threads = Rows / 16 * warp_lanes;  ///< a warp has 16 rows
  static constexpr bool even_steps_cancel = true;
  using State = Accumulators<Sum, Registers>;
  using Group = std::array<State, threads>;

  static State start(int thread, int chain) {
    State state{};
    add(state, thread, [&](int row, int column) { return value_of_c(row, column, chain); });
    return state;
  }
  template <class Operands>
  static Group reference(Group group, const Operands&, int parity) {
    static const auto products = [] {
      std::array<std::array<int, Columns>, Rows> sums{};
      for (int i = 0; i < Rows * Columns; ++i)
        for (int k = 0; k < K; ++k)
          sums[i / Columns][i % Columns] += value_of_a(i / Columns, k) * value_of_b(k, i % Columns);
      return sums;
    }();
    const int sign = parity == 0 ? 1 : -1;
    for (int i = 0; i < threads; ++i)
      add(group[i], i, [&](int row, int column) { return sign * products[row][column]; });
    return group;
  }
  static bool right(const State& want, const State& got) {
    for (int i = 0; i < count; ++i) {
      const int r = i / Sum::per_register, part = i % Sum::per_register;
      if (!(Sum::value(want.r[r], part) == Sum::value(got.r[r], part))) return false;
    }
    return true;
  }

 private:
  static constexpr int count = Registers * Sum::per_register;
  template <class F>
  static void add(State& state, int thread, F&& value) {
    const int lane = thread % warp_lanes, first_row = thread / warp_lanes * 16;
    for (int i = 0; i < count; ++i)
      Sum::add(state.r[i / Sum::per_register], i % Sum::per_register,
               value(first_row + row_of(lane, i), column_of(lane, i)));
  }
};

/// Register `r` of A's fragment of a lane: 16 rows (8 with one register).
template <class Element>
typename Element::Register a_register(int lane, int r, int first_row, int parity) {
  constexpr int per_register = Element::bytes >= 4 ? 1 : 4 / Element::bytes;
  const int k = (lane % 4 + 4 * (r / 2)) * per_register;
  return packed<Element>(
      [&](int i) { return value_of_a(first_row + lane / 4 + 8 * (r % 2), k + i, parity); });
}

template <class Element>
typename Element::Register b_register(int lane, int r) {
  constexpr int per_register = Element::bytes >= 4 ? 1 : 4 / Element::bytes;
  const int k = (lane % 4 + 4 * r) * per_register;
  return packed<Element>([&](int i) { return value_of_b(k + i, lane / 4); });
}

}  // namespace fathom::instructions
