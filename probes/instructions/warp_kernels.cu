#include <algorithm>

#include "probes/instructions/chain.cuh"

// What the lanes of a warp do together. References see the whole warp.

namespace fathom::instructions {
namespace {

using Word = std::uint32_t;

struct WarpOp : LaneOp<WarpOp, Word> {};

using WarpOperands = std::array<WarpOp::Operands, warp_lanes>;

struct ShflBfly : WarpOp {
  static __device__ void step(Word& x, const Operands&, int i) {
    if (i == 0)
      asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(x));
    else
      asm volatile("shfl.sync.bfly.b32 %0, %0, 18, 31, -1;" : "+r"(x));
  }
  static Warp reference(const Warp& x, const WarpOperands&, int parity) {
    Warp result;
    for (int lane = 0; lane < warp_lanes; ++lane) result[lane] = x[lane ^ (parity == 0 ? 1 : 18)];
    return result;
  }
};

/// From any lane, by a register.
struct ShflIdx : WarpOp {
  static __device__ void step(Word& x, const Operands& o, int i) {
    asm volatile("shfl.sync.idx.b32 %0, %0, %1, 31, -1;" : "+r"(x) : "r"(o.a[i]));
  }
  static Operands operands(int lane) {
    const auto next = [](int from, int by) { return Word((from * 5 + by) % warp_lanes); };
    return {{next(lane, 3), next(lane, 16)}, {0, 0}};
  }
  static Warp reference(const Warp& x, const WarpOperands& o, int parity) {
    Warp result;
    for (int lane = 0; lane < warp_lanes; ++lane) result[lane] = x[o[lane].a[parity]];
    return result;
  }
};

/// With the comparison that makes its condition from the ballot before.
struct Ballot : WarpOp {
  static __device__ void step(Word& x, const Operands& o, int i) {
    asm volatile("{.reg .pred p; setp.gt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}"
                 : "+r"(x)
                 : "r"(o.a[i]));
  }
  static Warp reference(const Warp& x, const WarpOperands& o, int parity) {
    Word ballot = 0;
    for (int lane = 0; lane < warp_lanes; ++lane)
      ballot |= Word{x[lane] > o[lane].a[parity]} << lane;
    Warp result;
    result.fill(ballot);
    return result;
  }
};

/// All lanes differ, so that each finds itself alone.
struct MatchAny : WarpOp {
  static constexpr int throughput_chains = 4, throughput_steps = 32;
  static __device__ void step(Word& x, const Operands&, int) {
    asm volatile("match.any.sync.b32 %0, %0, -1;" : "+r"(x));
  }
  static Warp reference(const Warp& x, const WarpOperands&, int) {
    Warp result{};
    for (int lane = 0; lane < warp_lanes; ++lane)
      for (int other = 0; other < warp_lanes; ++other)
        result[lane] |= Word{x[lane] == x[other]} << other;
    return result;
  }
};

/// The largest of the warp, which after one step is every lane's.
struct ReduxMax : WarpOp {
  static constexpr int throughput_chains = 4, throughput_steps = 32;
  static __device__ void step(Word& x, const Operands&, int) {
#if __CUDA_ARCH__ >= 800
    asm volatile("redux.sync.max.u32 %0, %0, -1;" : "+r"(x));
#endif
  }
  static Warp reference(const Warp& x, const WarpOperands&, int) {
    Warp result;
    result.fill(*std::max_element(x.begin(), x.end()));
    return result;
  }
};

}  // namespace

std::span<const Kernels> warp_kernels() {
  static const std::array list{FATHOM_KERNELS(ShflBfly), FATHOM_KERNELS(ShflIdx),
                               FATHOM_KERNELS(Ballot), FATHOM_KERNELS(MatchAny),
                               FATHOM_KERNELS(ReduxMax)};
  return list;
}

}  // namespace fathom::instructions
