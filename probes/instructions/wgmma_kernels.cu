#include <vector>

#include "probes/instructions/wgmma_products.cuh"

// Tensor instructions of a warpgroup: wgmma.mma_async of 64 rows, N columns and 32 bytes of K, of
// compute capability 9.0 alone. A's two signs (see fragments.cuh) are two tiles.

namespace fathom::instructions {
namespace {

constexpr int rows = 64, k_bytes = 32, warpgroup_threads = 128;
constexpr int a_tile_bytes = rows * k_bytes;

/// Where a tile has byte `byte` of row `row` (of A; of B: column): without swizzle, core matrices
/// of 8 rows of 16 bytes lie one after the other, along K first (PTX ISA, "Shared memory matrix
/// layout").
constexpr int core_bytes = 8 * 16;
constexpr int tile_offset(int row, int byte) {
  return row / 8 * 2 * core_bytes + byte / 16 * core_bytes + row % 8 * 16 + byte % 16;
}

/// Matrix descriptor of a tile at this shared-memory address: offsets in units of 16 bytes between
/// core matrices along K and along rows.
__device__ std::uint64_t descriptor(const std::byte* tile) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
  return (address & 0x3FFFF) >> 4 | std::uint64_t{core_bytes >> 4} << 16 |
         std::uint64_t{2 * core_bytes >> 4} << 32;
}

template <class ElementType, class SumType, int N, bool FromRegisters>
struct WgmmaOp {
  using Element = ElementType;
  using Sum = SumType;
  static constexpr int columns = N;
  static constexpr int k = k_bytes / Element::bytes;
  [[maybe_unused]] static constexpr bool from_registers = FromRegisters;
  static constexpr int b_tile_bytes = N * k_bytes;
  static constexpr int latency_short_steps = 8, latency_steps = 32;
  static constexpr int throughput_steps = 32, throughput_warps = 8;
  static constexpr int max_threads = throughput_warps * warp_lanes;
  using State = Accumulators<Sum, N / 2>;
  struct Operands {
    std::byte a[2][a_tile_bytes], b[b_tile_bytes];
    std::uint32_t a_registers[warpgroup_threads][2][4];
  };
};

/// A warpgroup's share of a product: its accumulators and where the matrices are.
template <class Op>
struct Group {
  typename Op::State sums;
  std::uint32_t a_registers[2][4];
  std::uint64_t a[2], b;

  __device__ Group(const Run& run, std::byte* shared) {
    const int thread = threadIdx.x % warpgroup_threads;
    const auto& operands = *reinterpret_cast<const typename Op::Operands*>(run.operands);
    constexpr int words = (2 * a_tile_bytes + Op::b_tile_bytes) / 4;
    for (int i = threadIdx.x; i < words; i += blockDim.x) {
      reinterpret_cast<std::uint32_t*>(shared)[i] =
          reinterpret_cast<const std::uint32_t*>(&operands)[i];
    }
    for (int i = 0; i < 8; ++i)
      a_registers[i / 4][i % 4] = operands.a_registers[thread][i / 4][i % 4];
    sums = reinterpret_cast<const typename Op::State*>(run.starts)[thread];
    a[0] = descriptor(shared);
    a[1] = descriptor(shared + a_tile_bytes);
    b = descriptor(shared + 2 * a_tile_bytes);
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    // The tensor cores read shared memory through the asynchronous proxy.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    __syncthreads();
  }

  __device__ __forceinline__ void begin() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
  }
  __device__ __forceinline__ void issue(int parity) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    if constexpr (Op::from_registers)
      multiply(typename Op::Element{}, sums.r, a_registers[parity], b);
    else
      multiply(typename Op::Element{}, sums.r, a[parity], b);
#endif
  }
  __device__ __forceinline__ void wait() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
  }

  /// `Steps` products, each waiting for the one before.
  template <int Steps>
  __device__ __forceinline__ void chain() {
#pragma unroll
    for (int step = 0; step < Steps; ++step) {
      begin();
      issue(step % 2);
      wait();
    }
  }

  /// One last step, which the first warpgroup of a block writes out.
  __device__ void finish(const Run& run) {
    auto* out = reinterpret_cast<typename Op::State*>(run.out) +
                (static_cast<std::size_t>(blockIdx.x) * warpgroup_threads + threadIdx.x) * 2;
    const bool writes = threadIdx.x < warpgroup_threads;
    if (writes) out[0] = sums;
    __syncthreads();
    chain<1>();
    if (writes) out[1] = sums;
  }
};

template <class Op>
__global__ void __launch_bounds__(Op::max_threads) wgmma_latency(Run run) {
  __shared__ alignas(128) std::byte shared[2 * a_tile_bytes + Op::b_tile_bytes];
  Group<Op> group(run, shared);
  const long long short_start = clock64();
#pragma unroll 1
  for (int i = 0; i < run.iterations; ++i) group.template chain<Op::latency_short_steps>();
  const long long short_end = clock64();
  __syncthreads();
  const long long long_start = clock64();
#pragma unroll 1
  for (int i = 0; i < run.iterations; ++i)
    group.template chain<Op::latency_short_steps + Op::latency_steps>();
  const long long long_end = clock64();
  group.finish(run);
  write_clocks(run, short_start, short_end, long_start, long_end);
}

template <class Op>
__global__ void __launch_bounds__(Op::max_threads) wgmma_throughput(Run run) {
  __shared__ alignas(128) std::byte shared[2 * a_tile_bytes + Op::b_tile_bytes];
  Group<Op> group(run, shared);
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < run.iterations; ++i) {
    group.begin();
#pragma unroll
    for (int step = 0; step < Op::throughput_steps; ++step) group.issue(step % 2);
    group.wait();
  }
  const long long end = clock64();
  group.finish(run);
  write_clocks(run, start, end, 0, 0);
}

template <class Op, class F>
void add_to(typename Op::State& state, int thread, F&& value) {
  for (int i = 0; i < Op::columns / 2; ++i) {
    const int row = thread / warp_lanes * 16 + row_of(thread % warp_lanes, i);
    Op::Sum::add(state.r[i], 0, value(row, column_of(thread % warp_lanes, i)));
  }
}

template <class Op>
void fill_wgmma(int, std::byte* starts, std::byte* operands) {
  auto* states = reinterpret_cast<typename Op::State*>(starts);
  auto& o = *reinterpret_cast<typename Op::Operands*>(operands);
  for (int thread = 0; thread < warpgroup_threads; ++thread) {
    states[thread] = {};
    add_to<Op>(states[thread], thread,
               [](int row, int column) { return value_of_c(row, column, 0); });
    for (int i = 0; i < 8; ++i) {
      o.a_registers[thread][i / 4][i % 4] = a_register<typename Op::Element>(
          thread % warp_lanes, i % 4, thread / warp_lanes * 16, i / 4);
    }
  }
  constexpr int bytes = Op::Element::bytes;
  const auto put = [](std::byte* tile, int row, int k, int value) {
    const std::uint32_t bits = Op::Element::bits(value);
    std::memcpy(tile + tile_offset(row, k * bytes), &bits, bytes);
  };
  for (int k = 0; k < Op::k; ++k) {
    for (int row = 0; row < rows; ++row)
      for (int parity = 0; parity < 2; ++parity)
        put(o.a[parity], row, k, value_of_a(row, k, parity));
    for (int column = 0; column < Op::columns; ++column) put(o.b, column, k, value_of_b(k, column));
  }
}

/// A tile in shared memory and its registers need not agree: an instruction reads the one or the
/// other.
template <class Op>
void randomise_wgmma(std::byte* operands) {
  using Element = typename Op::Element;
  auto& o = *reinterpret_cast<typename Op::Operands*>(operands);
  std::uint32_t i = 0;
  const auto put = [](std::byte* at, std::uint32_t word) { std::memcpy(at, &word, sizeof word); };
  for (int byte = 0; byte < a_tile_bytes; byte += 4, ++i) {
    const std::uint32_t word = random_register<Element>(i);
    put(o.a[0] + byte, word);
    put(o.a[1] + byte, negated<Element>(word));
  }
  for (int byte = 0; byte < Op::b_tile_bytes; byte += 4, ++i)
    put(o.b + byte, random_register<Element>(i));
  for (auto& registers : o.a_registers) {
    for (int r = 0; r < 4; ++r, ++i) {
      registers[0][r] = random_register<Element>(i);
      registers[1][r] = negated<Element>(registers[0][r]);
    }
  }
}

template <class Op>
std::string check_wgmma(const Shape&, int, std::span<const std::byte> out) {
  using State = typename Op::State;
  // An even number of steps adds nothing, the last one A B.
  static const auto wanted = [] {
    std::vector<State> states(2 * warpgroup_threads, State{});
    for (int thread = 0; thread < warpgroup_threads; ++thread) {
      State& before = states[2 * thread];
      State& after = states[2 * thread + 1];
      add_to<Op>(before, thread, [](int row, int column) { return value_of_c(row, column, 0); });
      after = before;
      add_to<Op>(after, thread,
                 [](int row, int column) { return product_of(row, column, Op::k, 0); });
    }
    return states;
  }();
  const auto* states = reinterpret_cast<const State*>(out.data());
  const std::size_t count = out.size() / sizeof(State);
  for (std::size_t i = 0; i < count; ++i) {
    for (int r = 0; r < Op::columns / 2; ++r) {
      const double want = Op::Sum::value(wanted[i % wanted.size()].r[r], 0);
      const double got = Op::Sum::value(states[i].r[r], 0);
      if (got == want) continue;  // false for a NaN too
      const int lane = static_cast<int>(i / 2 % warp_lanes);
      return wrong_value(i % 2 == 0 ? "the chain's end" : "the last step", i / 2 / warp_lanes, lane,
                         r, std::to_string(got), std::to_string(want));
    }
  }
  return count == 0 ? "nothing was written" : "";
}

template <class Op>
Kernels wgmma_kernels_of(const std::string& op) {
  return {.op = op,
          .latency = {1, Op::latency_short_steps, Op::latency_short_steps + Op::latency_steps},
          .throughput = {1, 0, Op::throughput_steps},
          .throughput_warps = Op::throughput_warps,
          .state_bytes = sizeof(typename Op::State),
          .operands_bytes = sizeof(typename Op::Operands),
          .start_threads = warpgroup_threads,
          .writing_warps = warpgroup_threads / warp_lanes,
          .launch =
              [](Variant variant, const Run& run, int blocks, int warps, cudaStream_t stream) {
                const auto kernel =
                    variant == Variant::latency ? wgmma_latency<Op> : wgmma_throughput<Op>;
                kernel<<<blocks, warps * warp_lanes, 0, stream>>>(run);
                FATHOM_CUDA(cudaGetLastError());
              },
          .fill = fill_wgmma<Op>,
          .randomise = randomise_wgmma<Op>,
          .check = check_wgmma<Op>};
}

// The types' own names: the kernels' names in the machine code have them.
template <int N, bool R>
struct WgmmaF16 : WgmmaOp<F16, F32Sum, N, R> {};
template <int N, bool R>
struct WgmmaBf16 : WgmmaOp<Bf16, F32Sum, N, R> {};
template <int N, bool R>
struct WgmmaTf32 : WgmmaOp<Tf32, F32Sum, N, R> {};
template <int N, bool R>
struct WgmmaE4m3 : WgmmaOp<E4m3, F32Sum, N, R> {};
template <int N, bool R>
struct WgmmaS8 : WgmmaOp<S8, S32Sum, N, R> {};

/// `op`: the type's name; each shape's own is as in "WgmmaF16<64, false>".
template <template <int, bool> class Op, bool R = false>
void add_shapes(std::vector<Kernels>& list, const std::string& op) {
  const char* registers = R ? ", true>" : ", false>";
  list.push_back(wgmma_kernels_of<Op<64, R>>(op + "<64" + registers));
  list.push_back(wgmma_kernels_of<Op<128, R>>(op + "<128" + registers));
  list.push_back(wgmma_kernels_of<Op<256, R>>(op + "<256" + registers));
  if constexpr (!R) add_shapes<Op, true>(list, op);
}

}  // namespace

std::span<const Kernels> wgmma_kernels() {
  static const std::vector<Kernels> list = [] {
    std::vector<Kernels> all;
    add_shapes<WgmmaF16>(all, "WgmmaF16");
    add_shapes<WgmmaBf16>(all, "WgmmaBf16");
    add_shapes<WgmmaTf32>(all, "WgmmaTf32");
    add_shapes<WgmmaE4m3>(all, "WgmmaE4m3");
    add_shapes<WgmmaS8>(all, "WgmmaS8");
    return all;
  }();
  return list;
}

}  // namespace fathom::instructions
