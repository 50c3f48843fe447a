#pragma once

// The one pattern that times an instruction. An Op has
//   State, Operands        trivially copyable; a chain's value, and what a thread keeps besides
//   step(State&, const Operands&, int parity)    __device__: the instruction, by inline PTX;
//                          parity alternates, so that the compiler cannot merge two steps into one
//   start(thread, chain), operands(lane)         on the host: never zeros
//   reference(group, operands, parity)           on the host: one step of all `threads`
//   whole_chain            whether a chain's end is checked too, as `right` has it: not where
//                          errors add up or the result is the GPU's own
//   right(want, got)       whether a step's result is right
//   randomise(operands, lane)                    on the host: see Kernels; may lack
// and sizes that it may set apart from LaneOp's.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "probes/instructions/kernels.h"

namespace fathom::instructions {

struct DefaultSizes {
  static constexpr int threads = warp_lanes;       ///< that take a step together
  static constexpr int operand_sets = warp_lanes;  ///< for these threads
  static constexpr int writing_warps = 32;         ///< the most of a block that write their states
  static constexpr int latency_short_steps = 64, latency_steps = 256;
  static constexpr int throughput_chains = 8, throughput_steps = 64;
  static constexpr int throughput_warps = 16;
  static constexpr int max_threads = 512;
  static constexpr bool whole_chain = true;
  static constexpr bool even_steps_cancel = false;  ///< an even number of them changes nothing
};
template <class Op>
using GroupOf = std::array<typename Op::State, Op::threads>;
template <class Op>
using OperandsOf = std::array<typename Op::Operands, Op::operand_sets>;

/// Two pairs of operands: even steps use the first.
template <class Value>
struct OperandPairs {
  Value a[2], b[2];
};

/// A pseudo-random word, the same on every machine.
inline std::uint32_t hashed(std::uint32_t x) {
  x += 0x9E3779B9u;
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

/// An instruction on one lane's register. `Derived::next(x, a, b)` is its reference.
template <class Derived, class Value>
struct LaneOp : DefaultSizes {
  using State = Value;
  using Operands = OperandPairs<Value>;
  using Warp = std::array<State, warp_lanes>;

  static State start(int lane, int chain) {
    if constexpr (std::is_floating_point_v<Value>)
      return static_cast<Value>(1 + (hashed(32 * chain + lane) >> 12) * 0x1p-20);
    else
      return hashed(32 * chain + lane) | 1u;
  }
  /// Floating point: a pair of factors whose product is 1 and of terms whose sum is 0, so that no
  /// chain grows without bound.
  static Operands operands(int lane) {
    if constexpr (std::is_floating_point_v<Value>) {
      return {{Value(1.5), Value(2.0 / 3)}, {Value(0.375), Value(-0.25)}};
    } else {
      const auto word = [&](int i) { return Value(hashed(1000 + 4 * lane + i) | 1u); };
      return {{word(0), word(1)}, {word(2), word(3)}};
    }
  }
  static Warp reference(const Warp& x, const std::array<Operands, warp_lanes>& o, int parity) {
    Warp result;
    for (int lane = 0; lane < warp_lanes; ++lane)
      result[lane] = Derived::next(x[lane], o[lane].a[parity], o[lane].b[parity]);
    return result;
  }
  static bool right(const State& want, const State& got) { return want == got; }
};

/// 100 x the compute capability that is compiled for, as __CUDA_ARCH__ has it; 0 on the host.
#ifdef __CUDA_ARCH__
constexpr int target = __CUDA_ARCH__;
#else
constexpr int target = 0;
#endif

/// An Op's step from compute capability `since` on: inline PTX, and how it takes x and, for parity
/// `i`, the operands `o`.
#define FATHOM_PTX_STEP(since, ptx, ...)                                                     \
  static __device__ void step([[maybe_unused]] State& x, [[maybe_unused]] const Operands& o, \
                              [[maybe_unused]] int i) {                                      \
    if constexpr (target >= since) asm volatile(ptx : __VA_ARGS__);                          \
  }
/// A step and its reference of x and the operands a and b: an expression, and inline PTX that
/// changes x as `constraint` has it and reads what follows.
#define FATHOM_STEP(constraint, reference, ptx, ...)                    \
  FATHOM_PTX_STEP(0, ptx, constraint(x) : __VA_ARGS__)                  \
  static State next([[maybe_unused]] State x, [[maybe_unused]] State a, \
                    [[maybe_unused]] State b) {                         \
    return reference;                                                   \
  }
/// An Op that is a Base<Op>, a LaneOp, with no more of its own than that.
#define FATHOM_OP(Name, Base, ...) \
  struct Name : Base<Name> {       \
    FATHOM_STEP(__VA_ARGS__)       \
  };
template <class Derived>
using FloatOp = LaneOp<Derived, float>;
template <class Derived>
using WordOp = LaneOp<Derived, std::uint32_t>;

/// A thread's part in the chains. `depend` takes steps of which each needs the one before, as far
/// as there is but one chain; `issue` those that may overlap.
template <class Op, int Chains>
struct Thread {
  using State = typename Op::State;
  State x[Chains];
  typename Op::Operands operands;

  __device__ explicit Thread(const Run& run) {
    const int lane = threadIdx.x % warp_lanes;
    for (int c = 0; c < Chains; ++c)
      x[c] = reinterpret_cast<const State*>(run.starts)[lane * Chains + c];
    operands = reinterpret_cast<const typename Op::Operands*>(run.operands)[lane];
  }

  template <int Steps>
  __device__ __forceinline__ void depend() {
    static_assert(Steps % 2 == 0, "the parity of the first step must stay the same");
#pragma unroll
    for (int step = 0; step < Steps; ++step) {
#pragma unroll
      for (int chain = 0; chain < Chains; ++chain) Op::step(x[chain], operands, step % 2);
    }
  }
  template <int Steps>
  __device__ __forceinline__ void issue() {
    depend<Steps>();
  }

  __device__ void finish(const Run& run) {
    State* out = reinterpret_cast<State*>(run.out) +
                 (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * Chains * 2;
#pragma unroll
    for (int c = 0; c < Chains; ++c) {
      out[2 * c] = x[c];
      Op::step(x[c], operands, 0);
      out[2 * c + 1] = x[c];
    }
  }
};

__device__ __forceinline__ void write_clocks(const Run& run, long long a, long long b, long long c,
                                             long long d) {
  if (threadIdx.x % warp_lanes != 0) return;
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
  long long* slot = run.clocks + static_cast<std::size_t>(warp) * clocks_per_warp;
  slot[0] = a;
  slot[1] = b;
  slot[2] = c;
  slot[3] = d;
}

template <class Op>
__global__ void __launch_bounds__(Op::max_threads) latency_chain(Run run) {
  Thread<Op, 1> thread(run);
  __syncthreads();
  const long long short_start = clock64();
#pragma unroll 1
  for (int i = 0; i < run.iterations; ++i) thread.template depend<Op::latency_short_steps>();
  const long long short_end = clock64();
  __syncthreads();
  const long long long_start = clock64();
#pragma unroll 1
  for (int i = 0; i < run.iterations; ++i)
    thread.template depend<Op::latency_short_steps + Op::latency_steps>();
  const long long long_end = clock64();
  thread.finish(run);
  write_clocks(run, short_start, short_end, long_start, long_end);
}

template <class Op>
__global__ void __launch_bounds__(Op::max_threads) throughput_chains(Run run) {
  Thread<Op, Op::throughput_chains> thread(run);
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < run.iterations; ++i) thread.template issue<Op::throughput_steps>();
  const long long end = clock64();
  thread.finish(run);
  write_clocks(run, start, end, 0, 0);
}

template <class Op>
OperandsOf<Op> operands_of() {
  OperandsOf<Op> operands;
  for (int lane = 0; lane < Op::operand_sets; ++lane) operands[lane] = Op::operands(lane);
  return operands;
}

/// What chain `chain` holds after `steps` steps, by the reference. Kept: a case checks more than
/// one launch.
template <class Op>
const GroupOf<Op>& chain_after(int chain, int steps) {
  static std::map<std::pair<int, int>, GroupOf<Op>> known;
  if (Op::even_steps_cancel) steps %= 2;
  const auto [place, is_new] = known.try_emplace({chain, steps});
  if (is_new) {
    for (int i = 0; i < Op::threads; ++i) place->second[i] = Op::start(i, chain);
    const auto operands = operands_of<Op>();
    for (int step = 0; step < steps; ++step)
      place->second = Op::reference(place->second, operands, step % 2);
  }
  return place->second;
}

template <class State>
std::string wrong_value(const char* what, std::size_t thread, int chain, const State& got,
                        const State& want) {
  using Words = std::array<std::uint32_t, sizeof(State) / 4>;
  const auto g = std::bit_cast<Words>(got), w = std::bit_cast<Words>(want);
  std::size_t word = 0;
  while (word + 1 < g.size() && g[word] == w[word]) ++word;
  char text[200];
  std::snprintf(text, sizeof text,
                "%s of warp %zu, lane %zu, chain %d is %08x instead of %08x in word %zu (in "
                "hexadecimal)",
                what, thread / warp_lanes, thread % warp_lanes, chain, g[word], w[word], word);
  return text;
}

template <class Op>
std::string check_chains(const Shape& shape, int iterations, std::span<const std::byte> out) {
  using State = typename Op::State;
  const auto operands = operands_of<Op>();
  const auto* states = reinterpret_cast<const State*>(out.data());
  const std::size_t groups = out.size() / (sizeof(State) * 2 * shape.chains * Op::threads);
  for (std::size_t group = 0; group < groups; ++group) {
    for (int chain = 0; chain < shape.chains; ++chain) {
      const State* first = states + (group * Op::threads * shape.chains + chain) * 2;
      const auto state = [&](int i, int which) { return first[i * shape.chains * 2 + which]; };
      GroupOf<Op> before;
      for (int i = 0; i < Op::threads; ++i) before[i] = state(i, 0);
      const auto last = Op::reference(before, operands, 0);
      for (int i = 0; i < Op::threads; ++i) {
        const std::size_t thread = group * Op::threads + i;
        if constexpr (Op::whole_chain) {
          const State& want = chain_after<Op>(chain, shape.total(iterations))[i];
          if (!Op::right(want, before[i]))
            return wrong_value("the chain's end", thread, chain, before[i], want);
        }
        if (!Op::right(last[i], state(i, 1)))
          return wrong_value("the last step", thread, chain, state(i, 1), last[i]);
      }
    }
  }
  return groups == 0 ? "nothing was written" : "";
}

template <class Op>
Kernels kernels_of(const std::string& op) {
  using State = typename Op::State;
  Kernels kernels{.op = op,
                  .throughput_warps = Op::throughput_warps,
                  .state_bytes = sizeof(State),
                  .operands_bytes = sizeof(OperandsOf<Op>),
                  .start_threads = Op::threads,
                  .writing_warps = Op::writing_warps,
                  .check = check_chains<Op>};
  if constexpr (Op::latency_steps > 0)
    kernels.latency = {1, Op::latency_short_steps, Op::latency_short_steps + Op::latency_steps,
                       latency_chain<Op>};
  if constexpr (Op::throughput_steps > 0)
    kernels.throughput = {Op::throughput_chains, 0, Op::throughput_steps, throughput_chains<Op>};
  kernels.fill = [](int chains, std::byte* starts, std::byte* operands) {
    auto* states = reinterpret_cast<State*>(starts);
    for (int i = 0; i < Op::threads; ++i)
      for (int c = 0; c < chains; ++c) states[i * chains + c] = Op::start(i, c);
    const auto all = operands_of<Op>();
    std::memcpy(operands, all.data(), sizeof all);
  };
  if constexpr (requires(typename Op::Operands & o) { Op::randomise(o, 0); }) {
    kernels.randomise = [](std::byte* operands) {
      auto* of_lane = reinterpret_cast<typename Op::Operands*>(operands);
      for (int lane = 0; lane < Op::operand_sets; ++lane) Op::randomise(of_lane[lane], lane);
    };
  }
  return kernels;
}

/// `names`: the Ops', with ", " in between.
template <class... Ops>
std::vector<Kernels> kernels_of_all(std::string_view names) {
  const auto next = [&] {
    const std::string name(names.substr(0, names.find(',')));
    names.remove_prefix(std::min(name.size() + 2, names.size()));
    return name;
  };
  return {kernels_of<Ops>(next())...};
}
#define FATHOM_KERNELS(list, ...)                                          \
  std::span<const Kernels> list() {                                        \
    static const auto kernels = kernels_of_all<__VA_ARGS__>(#__VA_ARGS__); \
    return kernels;                                                        \
  }

}  // namespace fathom::instructions
