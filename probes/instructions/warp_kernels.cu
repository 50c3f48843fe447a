#include <algorithm>
#include <stdexcept>

#include "probes/instructions/chain.cuh"

// What the lanes of a warp do together; barriers and fences.

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
  static __device__ void step(Word& x, const Operands& o, int i) {
    asm volatile("shfl.sync.idx.b32 %0, %0, %1, 31, -1;" : "+r"(x) : "r"(o.a[i]));
  }
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
  static __device__ void step(Word& x, const Operands& o, int i) {
    asm volatile("{.reg .pred p; setp.gt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}"
                 : "+r"(x)
                 : "r"(o.a[i]));
  }
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
  static __device__ void step(Word& x, const Operands&, int) {
    asm volatile("match.any.sync.b32 %0, %0, -1;" : "+r"(x));
  }
  static Word lane_after(int lane, const Warp& x, const AllOperands&, int) {
    Word alike = 0;
    for (int other = 0; other < warp_lanes; ++other) alike |= Word{x[lane] == x[other]} << other;
    return alike;
  }
};

/// The largest of the warp, which after one step is every lane's.
struct ReduxMax : WarpOp<ReduxMax> {
  static constexpr int throughput_chains = 4, throughput_steps = 32;
  static __device__ void step(Word& x, const Operands&, int) {
#if __CUDA_ARCH__ >= 800
    asm volatile("redux.sync.max.u32 %0, %0, -1;" : "+r"(x));
#endif
  }
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

#define FATHOM_WAIT(Name, ptx)                                                                   \
  struct Name : WaitOp {                                                                         \
    static __device__ void step(Word&, const Operands&, int) { asm volatile(ptx ::: "memory"); } \
  };
FATHOM_WAIT(BarSync, "bar.sync 0;")
FATHOM_WAIT(SyncWarp, "bar.warp.sync -1;")  // the compiler knows that the lanes are together
FATHOM_WAIT(MembarCta, "membar.cta;")
FATHOM_WAIT(MembarGl, "membar.gl;")
FATHOM_WAIT(MembarSys, "membar.sys;")

}  // namespace

FATHOM_KERNELS(warp_kernels, ShflBfly, ShflIdx, Ballot, MatchAny, ReduxMax, BarSync, SyncWarp,
               MembarCta, MembarGl, MembarSys)

const Kernels& find_kernels(std::string_view op) {
  for (const auto list : {arithmetic_kernels(), warp_kernels(), mma_kernels(), wgmma_kernels()})
    for (const Kernels& kernels : list)
      if (kernels.op == op) return kernels;
  throw std::out_of_range("no kernels for the instruction " + std::string(op));
}

}  // namespace fathom::instructions
