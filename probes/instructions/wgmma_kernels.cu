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

template <class Element, class Sum, int N, bool FromRegisters>
struct WgmmaOp : DefaultSizes {
  static constexpr int k = k_bytes / Element::bytes, b_tile_bytes = N * k_bytes;
  static constexpr int latency_short_steps = 8, latency_steps = 32;
  static constexpr int throughput_chains = 1, throughput_steps = 32, throughput_warps = 8;
  static constexpr int max_threads = throughput_warps * warp_lanes;
  static constexpr int group_threads = warpgroup_threads;
  using State = Accumulators<Sum, N / 2>;
  using Group = std::array<State, group_threads>;
  struct Operands {
    std::uint32_t a_registers[2][4];
    std::uint64_t a[2], b;
  };
  struct Tiles {
    std::byte a[2][a_tile_bytes], b[b_tile_bytes];
    std::uint32_t a_registers[warpgroup_threads][2][4];
  };

  static __device__ Operands load(const Run& run) {
    __shared__ alignas(128) std::byte shared[2 * a_tile_bytes + b_tile_bytes];
    const auto& tiles = *reinterpret_cast<const Tiles*>(run.operands);
    for (int i = threadIdx.x; i < static_cast<int>(sizeof shared) / 4; i += blockDim.x) {
      reinterpret_cast<std::uint32_t*>(shared)[i] =
          reinterpret_cast<const std::uint32_t*>(&tiles)[i];
    }
    Operands o;
    for (int i = 0; i < 8; ++i)
      o.a_registers[i / 4][i % 4] =
          tiles.a_registers[threadIdx.x % warpgroup_threads][i / 4][i % 4];
    o.a[0] = descriptor(shared);
    o.a[1] = descriptor(shared + a_tile_bytes);
    o.b = descriptor(shared + 2 * a_tile_bytes);
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    // The tensor cores read shared memory through the asynchronous proxy.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    return o;
  }

  static __device__ __forceinline__ void begin() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
  }
  static __device__ __forceinline__ void issue(State& sums, const Operands& o, int parity) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    if constexpr (FromRegisters)
      multiply(Element{}, sums.r, o.a_registers[parity], o.b);
    else
      multiply(Element{}, sums.r, o.a[parity], o.b);
#endif
  }
  static __device__ __forceinline__ void wait() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
  }
  static __device__ __forceinline__ void step(State& sums, const Operands& o, int parity) {
    begin();
    issue(sums, o, parity);
    wait();
  }

  static State start(int thread, int chain) {
    State state{};
    add(state, thread, [&](int row, int column) { return value_of_c(row, column, chain); });
    return state;
  }
  static Tiles tiles() {
    Tiles o;
    for (int i = 0; i < warpgroup_threads * 8; ++i) {
      const int thread = i / 8, parity = i / 4 % 2;
      o.a_registers[thread][parity][i % 4] =
          a_register<Element>(thread % warp_lanes, i % 4, thread / warp_lanes * 16, parity);
    }
    const auto put = [](std::byte* tile, int row, int at, int value) {
      const std::uint32_t bits = Element::bits(value);
      std::memcpy(tile + tile_offset(row, at * Element::bytes), &bits, Element::bytes);
    };
    for (int at = 0; at < k; ++at) {
      for (int row = 0; row < rows; ++row)
        for (int parity = 0; parity < 2; ++parity)
          put(o.a[parity], row, at, value_of_a(row, at, parity));
      for (int column = 0; column < N; ++column) put(o.b, column, at, value_of_b(at, column));
    }
    return o;
  }
  /// A tile in shared memory and its registers need not agree: an instruction reads the one or the
  /// other.
  static void randomise(Tiles& o) {
    std::uint32_t i = 0;
    const auto put = [](std::byte* at, std::uint32_t word) { std::memcpy(at, &word, sizeof word); };
    for (int byte = 0; byte < a_tile_bytes; byte += 4, ++i) {
      const std::uint32_t word = random_register<Element>(i);
      put(o.a[0] + byte, word);
      put(o.a[1] + byte, negated<Element>(word));
    }
    for (int byte = 0; byte < b_tile_bytes; byte += 4, ++i)
      put(o.b + byte, random_register<Element>(i));
    for (auto& registers : o.a_registers) {
      for (int r = 0; r < 4; ++r, ++i) {
        registers[0][r] = random_register<Element>(i);
        registers[1][r] = negated<Element>(registers[0][r]);
      }
    }
  }
  static Group reference(Group group, const Tiles&, int parity) {
    static const auto products = exact_products<rows, N, k>();
    for (int thread = 0; thread < group_threads; ++thread)
      add(group[thread], thread,
          [&](int row, int column) { return products[parity][row][column]; });
    return group;
  }
  static bool right(const State& want, const State& got) { return same_sums<Sum>(want, got); }

 private:
  template <class F>
  static void add(State& state, int thread, F&& value) {
    add_fragment<Sum>(state, thread % warp_lanes, thread / warp_lanes * 16, value);
  }
};

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

#define FATHOM_SHAPES(Op)                                                                    \
  FATHOM_KERNELS(Op<64, false>, Op<128, false>, Op<256, false>, Op<64, true>, Op<128, true>, \
                 Op<256, true>)

}  // namespace

std::span<const Kernels> wgmma_kernels() {
  static const std::vector<Kernels> list = [] {
    std::vector<Kernels> all;
    for (const auto& of_type :
         {FATHOM_SHAPES(WgmmaF16), FATHOM_SHAPES(WgmmaBf16), FATHOM_SHAPES(WgmmaTf32),
          FATHOM_SHAPES(WgmmaE4m3), FATHOM_SHAPES(WgmmaS8)})
      all.insert(all.end(), of_type.begin(), of_type.end());
    return all;
  }();
  return list;
}

}  // namespace fathom::instructions
