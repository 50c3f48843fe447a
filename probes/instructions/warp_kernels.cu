#include <algorithm>
#include <stdexcept>

#include "probes/instructions/chain.cuh"

// What the lanes of a warp do together; barriers, fences, special registers and a loop's branch.

namespace fathom::instructions {
namespace {

using Word = std::uint32_t;

/// The reference sees the whole warp: `Derived::lane_after` is what a lane holds after a step.
template <class Derived>
struct WarpOp : WordOp<Derived> {
  using Warp = std::array<Word, warp_lanes>;
  using AllOperands = std::array<OperandPairs<Word>, warp_lanes>;
  static Warp reference(const Warp& x, const AllOperands& o, int parity) {
    Warp result;
    for (int lane = 0; lane < warp_lanes; ++lane)
      result[lane] = Derived::lane_after(lane, x, o, parity);
    return result;
  }
};

struct ShflBfly : WarpOp<ShflBfly> {
  static __device__ void step(Word& x, const Operands&, int i) {
    if (i == 0)
      asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(x));
    else
      asm volatile("shfl.sync.bfly.b32 %0, %0, 18, 31, -1;" : "+r"(x));
  }
  static Word lane_after(int lane, const Warp& x, const AllOperands&, int parity) {
    return x[lane ^ (parity == 0 ? 1 : 18)];
  }
};

/// From any lane, by a register.
struct ShflIdx : WarpOp<ShflIdx> {
  FATHOM_PTX_STEP(0, "shfl.sync.idx.b32 %0, %0, %1, 31, -1;", "+r"(x) : "r"(o.a[i]))
  static Operands operands(int lane) {
    const auto next = [](int from, int by) { return Word((from * 5 + by) % warp_lanes); };
    return {{next(lane, 3), next(lane, 16)}, {0, 0}};
  }
  static Word lane_after(int lane, const Warp& x, const AllOperands& o, int parity) {
    return x[o[lane].a[parity]];
  }
};

/// With the comparison that makes its condition from the ballot before.
struct Ballot : WarpOp<Ballot> {
  FATHOM_PTX_STEP(0, "{.reg .pred p; setp.gt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}",
                  "+r"(x)
                  : "r"(o.a[i]))
  static Word lane_after(int, const Warp& x, const AllOperands& o, int parity) {
    Word ballot = 0;
    for (int lane = 0; lane < warp_lanes; ++lane)
      ballot |= Word{x[lane] > o[lane].a[parity]} << lane;
    return ballot;
  }
};

/// All lanes differ, so that each finds itself alone.
struct MatchAny : WarpOp<MatchAny> {
  static constexpr int throughput_chains = 4, throughput_steps = 32;
  FATHOM_PTX_STEP(0, "match.any.sync.b32 %0, %0, -1;", "+r"(x))
  static Word lane_after(int lane, const Warp& x, const AllOperands&, int) {
    Word alike = 0;
    for (int other = 0; other < warp_lanes; ++other) alike |= Word{x[lane] == x[other]} << other;
    return alike;
  }
};

/// The largest of the warp, which after one step is every lane's.
struct ReduxMax : WarpOp<ReduxMax> {
  static constexpr int throughput_chains = 4, throughput_steps = 32;
  FATHOM_PTX_STEP(800, "redux.sync.max.u32 %0, %0, -1;", "+r"(x))
  static Word lane_after(int, const Warp& x, const AllOperands&, int) {
    return *std::max_element(x.begin(), x.end());
  }
};

/// An instruction that changes no register: its chain is that each waits for the one before.
struct WaitOp : WordOp<WaitOp> {
  static constexpr int latency_short_steps = 16, latency_steps = 64;
  static constexpr int throughput_steps = 0;
  static constexpr int max_threads = 1024;
  static Word next(Word x, Word, Word) { return x; }
};

#define FATHOM_WAIT(Name, ptx)            \
  struct Name : WaitOp {                  \
    FATHOM_PTX_STEP(0, ptx, : : "memory") \
  };
FATHOM_WAIT(BarSync, "bar.sync 0;")
FATHOM_WAIT(SyncWarp, "bar.warp.sync -1;")  // the compiler knows that the lanes are together
FATHOM_WAIT(MembarCta, "membar.cta;")
FATHOM_WAIT(MembarGl, "membar.gl;")
FATHOM_WAIT(MembarSys, "membar.sys;")

/// The clock, with a maximum: a value that nobody uses would not be read. It must be a little later
/// than what was read before, or the same where its 32 bits ran over.
struct ReadClock : WordOp<ReadClock> {
  static constexpr int latency_steps = 0;
  static constexpr bool whole_chain = false;
  static Word start(int, int chain) { return chain; }
  static bool right(Word before, Word now) { return now > 1000 && now - before < 1'000'000; }
  FATHOM_STEP("+r", x, "{.reg .u32 t; mov.u32 t, %%clock; max.u32 %0, %0, t;}")
};

/// The number of the SM, added: it is the same in every step, and no GPU has as many as 1024.
struct ReadSpecialRegister : WordOp<ReadSpecialRegister> {
  static constexpr int latency_steps = 0;
  static constexpr bool whole_chain = false;
  static bool right(Word before, Word now) { return now - before < 1024; }
  FATHOM_STEP("+r", x, "{.reg .u32 t; mov.u32 t, %%smid; add.u32 %0, %0, t;}")
};

/// A loop that does next to nothing: an addition, the counter, the comparison and the branch.
struct LoopBranch : WordOp<LoopBranch> {
  static constexpr int latency_short_steps = 2, latency_steps = 8, throughput_steps = 0;
  static constexpr Word turns = 32;
  static Operands operands(int lane) { return {{turns, turns}, {hashed(lane), hashed(lane + 32)}}; }
  FATHOM_PTX_STEP(0,
                  "{.reg .pred again;\n .reg .u32 left;\n mov.u32 left, %1;\n"
                  "turn: .pragma \"nounroll\";\n xor.b32 %0, %0, %2;\n shl.b32 %0, %0, 1;\n"
                  "sub.u32 left, left, 1;\n setp.ne.u32 again, left, 0;\n @again bra turn;\n}",
                  "+r"(x)
                  : "r"(o.a[i]), "r"(o.b[i]))
  static Word next(Word x, Word a, Word b) {
    for (Word left = a; left != 0; --left) x = (x ^ b) << 1;
    return x;
  }
};

}  // namespace

FATHOM_KERNELS(warp_kernels, ShflBfly, ShflIdx, Ballot, MatchAny, ReduxMax, BarSync, SyncWarp,
               MembarCta, MembarGl, MembarSys, ReadClock, ReadSpecialRegister, LoopBranch)

const Kernels& find_kernels(std::string_view op) {
  for (const auto list : {arithmetic_kernels(), warp_kernels(), mma_kernels(), wgmma_kernels()})
    for (const Kernels& kernels : list)
      if (kernels.op == op) return kernels;
  throw std::out_of_range("no kernels for the instruction " + std::string(op));
}

}  // namespace fathom::instructions
