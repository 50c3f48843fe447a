#include <algorithm>
#include <bit>

#include "probes/instructions/chain.cuh"

// Integer arithmetic and logic of 32 bits.

namespace fathom::instructions {
namespace {

using Word = std::uint32_t;

/// Two additions, which are one instruction.
FATHOM_OP(Iadd3, WordOp, "+r", x + a + b, "{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}",
          "r"(o.a[i]), "r"(o.b[i]))

FATHOM_OP(Imad, WordOp, "+r", (x * a + b), "mad.lo.u32 %0, %0, %1, %2;", "r"(o.a[i]), "r"(o.b[i]))

/// 32 x 32 + 64 bits, which the compiler makes of a product and an addition. Takes both words of
/// the one before, else the compiler would leave out half.
struct ImadWide : LaneOp<ImadWide, std::uint64_t> {
  static std::uint64_t start(int lane, int chain) {
    return std::uint64_t{hashed(lane)} << 32 | hashed(32 * chain + lane);
  }
  static Operands operands(int lane) {
    const auto word = [&](int i) {
      return std::uint64_t{hashed(lane + i)} << 32 | hashed(1000 + lane + i);
    };
    return {{0, 0}, {word(0), word(100)}};
  }
  FATHOM_STEP("+l", static_cast<Word>(x) * (x >> 32) + b,
              "{.reg .u32 low, high; mov.b64 {low, high}, %0; mad.wide.u32 %0, low, high, %1;}",
              "l"(o.b[i]))
};

/// (x & a) ^ b: with other operands in the next step, so that two do not make one.
FATHOM_OP(Lop3, WordOp, "+r", (x & a) ^ b, "lop3.b32 %0, %0, %1, %2, %3;", "r"(o.a[i]), "r"(o.b[i]),
          "n"((0xF0 & 0xCC) ^ 0xAA))

FATHOM_OP(Shf, WordOp, "+r", b % 32 == 0 ? a : (a << b % 32) | (x >> (32 - b % 32)),
          "shf.l.wrap.b32 %0, %0, %1, %2;", "r"(o.a[i]), "r"(o.b[i]))

/// Even steps keep x where the first condition holds, odd steps where the second does.
struct Sel : WordOp<Sel> {
  static Operands operands(int lane) {
    Operands o = WordOp<Sel>::operands(lane);
    o.b[0] = lane % 2;
    o.b[1] = lane / 2 % 2;
    return o;
  }
  FATHOM_STEP("+r", b != 0 ? x : a, "{.reg .pred p; setp.ne.u32 p, %2, 0; selp.b32 %0, %0, %1, p;}",
              "r"(o.a[i]), "r"(o.b[i]))
};

/// Even steps take the smaller one, odd steps the larger, of numbers such that every step changes
/// x. The GPU does not read b: it tells `next` which step it is.
struct Imnmx : WordOp<Imnmx> {
  static Operands operands(int lane) {
    return {{hashed(lane) >> 2, hashed(lane) >> 2 | 0x4000'0000u}, {0, 1}};
  }
  static __device__ void step(Word& x, const Operands& o, int i) {
    if (i == 0)
      asm volatile("min.s32 %0, %0, %1;" : "+r"(x) : "r"(o.a[0]));
    else
      asm volatile("max.s32 %0, %0, %1;" : "+r"(x) : "r"(o.a[1]));
  }
  static Word next(Word x, Word a, Word b) {
    const std::int32_t s = x, t = a;
    return b == 0 ? std::min(s, t) : std::max(s, t);
  }
};

FATHOM_OP(Popc, WordOp, "+r", std::popcount(x), "popc.b32 %0, %0;")

/// Place of the highest bit set. Its chain runs through 4, 2, 1, 0, ~0 and 31.
FATHOM_OP(Flo, WordOp, "+r", x == 0 ? ~0u : 31 - std::countl_zero(x), "bfind.u32 %0, %0;")

Word reversed(Word x) {
  Word result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= (x >> bit & 1u) << (31 - bit);
  return result;
}
FATHOM_OP(Brev, WordOp, "+r", reversed(x), "brev.b32 %0, %0;")

struct Prmt : WordOp<Prmt> {
  static Operands operands(int lane) {
    Operands o = WordOp<Prmt>::operands(lane);
    o.b[0] = 0x6035;
    o.b[1] = 0x2471;
    return o;
  }
  static Word permuted(std::uint64_t bytes, Word selector) {
    Word result = 0;
    for (int i = 0; i < 4; ++i)
      result |= Word(bytes >> 8 * (selector >> 4 * i & 7) & 0xFF) << 8 * i;
    return result;
  }
  FATHOM_STEP("+r", permuted(std::uint64_t{a} << 32 | x, b), "prmt.b32 %0, %0, %1, %2;",
              "r"(o.a[i]), "r"(o.b[i]))
};

Word dot_product(Word x, Word a, Word sum) {
  for (int i = 0; i < 4; ++i) sum += (x >> 8 * i & 0xFF) * (a >> 8 * i & 0xFF);
  return sum;
}
FATHOM_OP(Dp4a, WordOp, "+r", dot_product(x, a, b), "dp4a.u32.u32 %0, %0, %1, %2;", "r"(o.a[i]),
          "r"(o.b[i]))

/// A sequence: there is no instruction that divides. a / x, which stays between 1 and a. A wrong
/// result may be 0, which the host must not divide by.
template <class Derived>
struct Division : WordOp<Derived> {
  static constexpr int latency_short_steps = 4, latency_steps = 16;
  static constexpr int throughput_chains = 4, throughput_steps = 4;
  static OperandPairs<Word> operands(int lane) {
    const Word a = Derived::dividend(hashed(lane));
    return {{a, a}, {a, a}};
  }
  static Word start(int lane, int chain) { return hashed(32 * chain + lane) >> 12 | 1u; }
};

struct DivideU32 : Division<DivideU32> {
  static Word dividend(Word random) { return random | 0x8000'0000u; }
  FATHOM_STEP("+r", x == 0 ? ~0u : a / x, "div.u32 %0, %1, %0;", "r"(o.a[i]))
};

struct DivideS32 : Division<DivideS32> {
  static Word dividend(Word random) { return ~(random >> 2 | 0x2000'0000u); }  // negative
  FATHOM_STEP("+r", x == 0 ? ~0u : std::int32_t(a) / std::int32_t(x), "div.s32 %0, %1, %0;",
              "r"(o.a[i]))
};

}  // namespace

FATHOM_KERNELS(integer_kernels, Iadd3, Imad, ImadWide, Lop3, Shf, Sel, Imnmx, Popc, Flo, Brev, Prmt,
               Dp4a, DivideU32, DivideS32)

}  // namespace fathom::instructions
