#pragma once

// The one pattern that times an instruction. An Op has
//   State, Operands        trivially copyable; a chain's value, and what a thread keeps besides
//   step(State&, const Operands&, int parity)    __device__: the instruction, by inline PTX;
//                          parity alternates, so that the compiler cannot merge two steps into one
//   start(lane, chain), operands(lane)           on the host: never zeros
//   reference(warp, operands, parity)            on the host: one step of a whole warp
//   whole_chain            whether a chain's end is checked too, as `right` has it: not where
//                          errors add up or the result is the GPU's own
//   right(want, got)       whether a step's result is right
//   randomise(memory)                            on the host: see Kernels; may lack
// and sizes that it may set apart from LaneOp's. An Op of a whole warpgroup has besides
//   tiles()                                      on the host: the operands in device memory
//   load(run)                                    __device__: what a thread keeps of them
//   begin(), issue(State&, ...), wait()          __device__: the parts of a step

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/cuda_check.h"
#include "probes/instructions/kernels.h"

namespace fathom::instructions {

struct DefaultSizes {
  static constexpr int latency_short_steps = 64, latency_steps = 256;
  static constexpr int throughput_chains = 8, throughput_steps = 64;
  static constexpr int throughput_warps = 16;
  static constexpr int max_threads = 512;
  static constexpr int group_threads = warp_lanes;  ///< that take a step together
  static constexpr bool whole_chain = true;
};

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

/// An Op's step and its reference of x and the operands a and b: an expression, and inline PTX that
/// changes x as `constraint` has it and reads what follows of the operands `o` for parity `i`.
#define FATHOM_STEP(constraint, reference, ptx, ...)                        \
  static __device__ void step(State& x, [[maybe_unused]] const Operands& o, \
                              [[maybe_unused]] int i) {                     \
    asm volatile(ptx : constraint(x) : __VA_ARGS__);                        \
  }                                                                         \
  static State next([[maybe_unused]] State x, [[maybe_unused]] State a,     \
                    [[maybe_unused]] State b) {                             \
    return reference;                                                       \
  }
#define FATHOM_OP(Name, Value, ...)   \
  struct Name : LaneOp<Name, Value> { \
    FATHOM_STEP(__VA_ARGS__)          \
  };
/// An Op of another kind, which `Base<Name>` is.
#define FATHOM_OP_AS(Name, Base, ...) \
  struct Name : Base<Name> {          \
    FATHOM_STEP(__VA_ARGS__)          \
  };
/// What belongs to Ops, by their own names.
#define FATHOM_KERNELS(...) kernels_named<__VA_ARGS__>(#__VA_ARGS__)

template <class Op, int Steps, int Chains>
__device__ __forceinline__ void take_steps(typename Op::State (&x)[Chains],
                                           const typename Op::Operands& operands) {
  static_assert(Steps % 2 == 0, "the parity of the first step must stay the same");
#pragma unroll
  for (int step = 0; step < Steps; ++step) {
#pragma unroll
    for (int chain = 0; chain < Chains; ++chain) Op::step(x[chain], operands, step % 2);
  }
}

template <class Op, int Chains>
struct Thread {
  using State = typename Op::State;
  State x[Chains];
  typename Op::Operands operands;

  __device__ explicit Thread(const Run& run) {
    const int lane = threadIdx.x % Op::group_threads;
    for (int c = 0; c < Chains; ++c)
      x[c] = reinterpret_cast<const State*>(run.starts)[lane * Chains + c];
    if constexpr (requires { Op::load(run); })
      operands = Op::load(run);
    else
      operands = reinterpret_cast<const typename Op::Operands*>(run.operands)[lane];
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
  for (int i = 0; i < run.iterations; ++i)
    take_steps<Op, Op::latency_short_steps>(thread.x, thread.operands);
  const long long short_end = clock64();
  __syncthreads();
  const long long long_start = clock64();
#pragma unroll 1
  for (int i = 0; i < run.iterations; ++i)
    take_steps<Op, Op::latency_short_steps + Op::latency_steps>(thread.x, thread.operands);
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
  for (int i = 0; i < run.iterations; ++i) {
    if constexpr (requires { Op::begin(); }) {
      Op::begin();
#pragma unroll
      for (int step = 0; step < Op::throughput_steps; ++step)
        Op::issue(thread.x[0], thread.operands, step % 2);
      Op::wait();
    } else {
      take_steps<Op, Op::throughput_steps>(thread.x, thread.operands);
    }
  }
  const long long end = clock64();
  thread.finish(run);
  write_clocks(run, start, end, 0, 0);
}

/// The operands as they lie in device memory: those of each lane, or a warpgroup's tiles.
template <class Op>
auto operands_in_memory() {
  if constexpr (requires { Op::tiles(); }) {
    return Op::tiles();
  } else {
    std::array<typename Op::Operands, warp_lanes> operands;
    for (int lane = 0; lane < warp_lanes; ++lane) operands[lane] = Op::operands(lane);
    return operands;
  }
}

template <class Op>
using GroupOf = std::array<typename Op::State, Op::group_threads>;

/// What chain `chain` holds after `steps` steps, an even number, by the reference. Kept: a case
/// checks more than one launch.
template <class Op>
const GroupOf<Op>& chain_after(int chain, int steps) {
  static std::map<std::pair<int, int>, GroupOf<Op>> known;
  const auto [place, is_new] = known.try_emplace({chain, steps});
  if (is_new) {
    GroupOf<Op> start;
    for (int lane = 0; lane < Op::group_threads; ++lane) start[lane] = Op::start(lane, chain);
    GroupOf<Op> now = start;
    const auto operands = operands_in_memory<Op>();
    for (int step = 0; step < steps; ++step) {
      now = Op::reference(now, operands, step % 2);
      // Two steps that lead back do so again and again.
      if (step == 1 && std::memcmp(&now, &start, sizeof now) == 0) break;
    }
    place->second = now;
  }
  return place->second;
}

/// Says so of the first word that differs.
template <class State>
std::string wrong_value(const char* what, std::size_t thread, int chain, const State& got,
                        const State& want) {
  using Words = std::array<std::uint32_t, sizeof(State) / 4>;
  const auto found = std::bit_cast<Words>(got), right = std::bit_cast<Words>(want);
  std::size_t word = 0;
  while (word + 1 < found.size() && found[word] == right[word]) ++word;
  char values[64];
  std::snprintf(values, sizeof values, "%08x instead of %08x", found[word], right[word]);
  return std::string(what) + " of warp " + std::to_string(thread / warp_lanes) + ", lane " +
         std::to_string(thread % warp_lanes) + ", chain " + std::to_string(chain) + " is " +
         values + " (in hexadecimal)";
}

template <class Op>
std::string check_chains(const Shape& shape, int iterations, std::span<const std::byte> out) {
  using State = typename Op::State;
  constexpr int threads = Op::group_threads;
  const auto operands = operands_in_memory<Op>();
  const auto* states = reinterpret_cast<const State*>(out.data());
  const std::size_t groups = out.size() / (sizeof(State) * 2 * shape.chains * threads);
  for (std::size_t group = 0; group < groups; ++group) {
    for (int chain = 0; chain < shape.chains; ++chain) {
      const auto state = [&](int thread, int which) -> const State& {
        return states[((group * threads + thread) * shape.chains + chain) * 2 + which];
      };
      GroupOf<Op> before;
      for (int thread = 0; thread < threads; ++thread) before[thread] = state(thread, 0);
      const auto last = Op::reference(before, operands, 0);
      for (int thread = 0; thread < threads; ++thread) {
        const std::size_t number = group * threads + thread;
        if constexpr (Op::whole_chain) {
          const State& want = chain_after<Op>(chain, shape.total(iterations))[thread];
          if (!Op::right(want, before[thread]))
            return wrong_value("the chain's end", number, chain, before[thread], want);
        }
        if (!Op::right(last[thread], state(thread, 1)))
          return wrong_value("the last step", number, chain, state(thread, 1), last[thread]);
      }
    }
  }
  return groups == 0 ? "nothing was written" : "";
}

template <class Op>
Kernels kernels_of(std::string op) {
  using State = typename Op::State;
  using Memory = decltype(operands_in_memory<Op>());
  Kernels kernels{.op = std::move(op),
                  .throughput_warps = Op::throughput_warps,
                  .state_bytes = sizeof(State),
                  .operands_bytes = sizeof(Memory),
                  .start_threads = Op::group_threads,
                  .check = check_chains<Op>};
  if (Op::latency_steps > 0)
    kernels.latency = {1, Op::latency_short_steps, Op::latency_short_steps + Op::latency_steps};
  if (Op::throughput_steps > 0)
    kernels.throughput = {Op::throughput_chains, 0, Op::throughput_steps};
  kernels.launch = [](Variant variant, const Run& run, int blocks, int warps, cudaStream_t stream) {
    if (variant == Variant::latency) {
      if constexpr (Op::latency_steps > 0)
        latency_chain<Op><<<blocks, warps * warp_lanes, 0, stream>>>(run);
    } else if constexpr (Op::throughput_steps > 0) {
      throughput_chains<Op><<<blocks, warps * warp_lanes, 0, stream>>>(run);
    }
    FATHOM_CUDA(cudaGetLastError());
  };
  kernels.fill = [](int chains, std::byte* starts, std::byte* operands) {
    auto* states = reinterpret_cast<State*>(starts);
    for (int lane = 0; lane < Op::group_threads; ++lane)
      for (int c = 0; c < chains; ++c) states[lane * chains + c] = Op::start(lane, c);
    const Memory all = operands_in_memory<Op>();
    std::memcpy(operands, &all, sizeof all);
  };
  if constexpr (requires(Memory & memory) { Op::randomise(memory); })
    kernels.randomise = [](std::byte* operands) {
      Op::randomise(*reinterpret_cast<Memory*>(operands));
    };
  return kernels;
}

/// `names` as the preprocessor has them: "Fadd, WgmmaF16<64, false>".
template <class... Ops>
std::vector<Kernels> kernels_named(std::string_view names) {
  const auto next = [&] {
    std::size_t end = 0;
    for (int depth = 0; end < names.size() && (depth > 0 || names[end] != ','); ++end)
      depth += (names[end] == '<') - (names[end] == '>');
    const std::string name(names.substr(0, end));
    names.remove_prefix(std::min(names.size(), end + 2));
    return name;
  };
  return {kernels_of<Ops>(next())...};
}

}  // namespace fathom::instructions
