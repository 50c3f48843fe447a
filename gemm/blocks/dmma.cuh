#pragma once

#include <cstdint>

#include "gemm/blocks/matrix.cuh"

// Products of a warp in fp64 on the tensor cores, mma.sync (PTX ISA, "Matrix fragments for mma with
// .f64 floating point type"). A lane has a row `lane / 4` and a place `lane % 4` along k:
//   A, 16 rows: element i is of row lane / 4 + 8 (i % 2), k 4 (i / 2) + lane % 4;
//   B, 8 columns: element i is of column lane / 4, k 4 i + lane % 4;
//   D: element i is of row lane / 4 + 8 (i / 2), column 2 (lane % 4) + i % 2.
// For 8 rows, A has element 0 alone and D the first two.

namespace fathom::gemm {

/// d (8 x 8) += A (8 x 4) B (4 x 8). sm_80 and later.
__device__ inline void multiply_8x8x4(double (&d)[2], double a, double b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a), "d"(b));
#else
  (void)d, (void)a, (void)b;
#endif
}

/// d (16 x 8) += A (16 x 16) B (16 x 8). sm_90 and later.
__device__ inline void multiply_16x8x16(double (&d)[4], const double (&a)[8],
                                        const double (&b)[4]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
  (void)d, (void)a, (void)b;
#endif
}

}  // namespace fathom::gemm

// A warp's fragments from a stage without a bank conflict, however the operands lie, straight into
// the registers that products read: neighbours for rows i and i + 8 of A at one k, and for B's k.
//
// The products add over k in any order, as long as A and B agree on it. A lane takes two of the 8
// words that hold a stage's 16 k in pairs, in four slots, by its place along k:
//
// Paired slots, for A along the outer dimension and B along k: words c = 2 p + (p > 1) and c ^ 1.
// One 16-byte load brings both k of a word of B. A quarter-warp, which such a load serves at once,
// is two columns and four places; its words, XORed with two numbers that differ in the last bit,
// have all 8 places of a line. Of A, a 16-byte load brings two neighbouring rows, which stand for
// rows i and i + 8 of the fragment; c is different modulo 4 for each p, so that the lines 2 c (or
// c, of a split operand) of four places and two words of rows have all 8 places as well.
//
// Crossed slots, for all else: words c = p ^ 4 (p % 2) and c ^ 4, odd k first for p > 1. An 8-byte
// load serves a half-warp at once: four rows and four places, of which two read even k and two odd
// ones, of words that differ in bit 2, so that all 16 places of a line are read. c is different
// modulo 4 here too.

namespace fathom::gemm::fp64 {

/// k of a stage: lines of 128 bytes.
inline constexpr int stage_depth = 16;
inline constexpr int line_bytes = 128;

/// One of a lane's k of a stage: word `word`, its first or its second.
struct KSlot {
  int word, odd;
};

template <bool paired>
__device__ inline KSlot k_slot(int place, int slot) {
  if constexpr (paired) return {(2 * place + place / 2) ^ (slot / 2), slot % 2};
  return {place ^ (place % 2 * 4) ^ (slot / 2 * 4), (place / 2) ^ (slot % 2)};
}

/// Where a k of an operand along the outer dimension lies: its line, and there outer word `word`.
__device__ inline std::uint32_t outer_offset(KSlot k, int word, bool split) {
  const int line = split ? k.odd * (stage_depth / 2) + k.word : 2 * k.word + k.odd;
  return line * line_bytes + (word ^ (line % 8)) * 16;
}
/// And of one along k, in line `line`.
__device__ inline std::uint32_t along_offset(KSlot k, int line) {
  return line * line_bytes + (k.word ^ (line % 8)) * 16 + k.odd * 8;
}

__device__ inline void load_one(std::uint32_t address, double& x) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(address) : "memory");
}
__device__ inline void load_two(std::uint32_t address, double& x, double& y) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "r"(address) : "memory");
}

/// Where a lane's elements of an operand lie in a stage.
template <int Count>
struct LaneOffsets {
  std::uint32_t of[Count];

  /// For stages that lie so much further.
  __device__ void move(int bytes) {
#pragma unroll
    for (std::uint32_t& x : of) x += bytes;
  }
};

/// Those of A, for the warp whose rows start at `first`, a multiple of 16.
template <Major major, bool paired>
struct LaneOfA : LaneOffsets<4> {
  __device__ LaneOfA(int first, bool split) {
    const int lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4;
#pragma unroll
    for (int slot = 0; slot < 4; ++slot) {
      const KSlot k = k_slot<paired>(lane % 4, slot);
      of[slot] = first * line_bytes +
                 (major == Major::k ? along_offset(k, row) : outer_offset(k, row, split));
    }
  }

  /// Sixteen rows from row 16 * block of the warp's on.
  __device__ void load(std::uint32_t stage, int block, double (&a)[8]) const {
    const std::uint32_t from = stage + block * 16 * line_bytes;
#pragma unroll
    for (int slot = 0; slot < 4; ++slot) {
      if constexpr (major == Major::k) {
        load_one(from + of[slot], a[2 * slot]);
        load_one(from + of[slot] + 8 * line_bytes, a[2 * slot + 1]);
      } else {
        load_two(from + of[slot], a[2 * slot], a[2 * slot + 1]);
      }
    }
  }
};

/// The same of B, for the warp whose columns start at `first`.
template <Major major, bool paired>
struct LaneOfB : LaneOffsets<paired && major == Major::k ? 2 : 4> {
  __device__ LaneOfB(int first, bool split) {
    const int lane = static_cast<int>(threadIdx.x) % 32, column = lane / 4;
#pragma unroll
    for (int i = 0; i < (paired && major == Major::k ? 2 : 4); ++i) {
      if constexpr (major == Major::k) {
        this->of[i] =
            first * line_bytes + along_offset(k_slot<paired>(lane % 4, paired ? 2 * i : i), column);
      } else {
        this->of[i] = first * line_bytes + column % 2 * 8 +
                 outer_offset(k_slot<paired>(lane % 4, i), column / 2, split);
      }
    }
  }

  /// Eight columns from column 8 * block of the warp's on.
  __device__ void load(std::uint32_t stage, int block, double (&b)[4]) const {
    if constexpr (major == Major::k && paired) {
      const std::uint32_t from = stage + block * 8 * line_bytes;
      load_two(from + this->of[0], b[0], b[1]);
      load_two(from + this->of[1], b[2], b[3]);
    } else {
      // Along the outer dimension eight columns are a line's first four words or the others: bit 2.
      constexpr bool along = major == Major::k;
      const std::uint32_t lines = (along ? block * 8 : block / 2 * stage_depth) * line_bytes;
      const std::uint32_t others = along ? 0 : block % 2 * 4 * 16;
#pragma unroll
      for (int slot = 0; slot < 4; ++slot)
        load_one(((stage + this->of[slot]) ^ others) + lines, b[slot]);
    }
  }
};

/// Row of a tile whose line, in the stage, is `line` of `Rows`, of an operand along k.
template <int Rows>
__device__ inline int place_of_line(int line, bool split) {
  if (!split) return line;
  return line < Rows / 2 ? 2 * line : 2 * line - Rows + 1;
}

}  // namespace fathom::gemm::fp64
