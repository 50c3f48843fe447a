#include <vector>

#include "harness/wgmma_operands.cuh"
#include "probes/instructions/fragments.cuh"

// Tensor instructions of a warpgroup: wgmma.mma_async of 64 rows, N columns and 32 bytes of K, of
// compute capability 9.0 alone. A's two signs (see fragments.cuh) are two tiles.

namespace fathom::instructions {

/// One product of a type and `n` columns, d[] += A B: B in shared memory, A there or in registers.
/// The operands behind the accumulators are numbers i0 to i4.
#define FATHOM_PRODUCT(n, i0, i1, i2, i3, i4, unused, Type, ptx, in_shared, in_registers)     \
  __device__ inline void multiply(Type, std::uint32_t(&d)[n / 2], std::uint64_t a,            \
                                  std::uint64_t b) {                                          \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n ptx " {" FATHOM_WGMMA_SUM_NAMES_##n   \
                 "}, " i0 ", " i1 in_shared ";"                                               \
                 : FATHOM_WGMMA_SUMS_##n                                                      \
                 : "l"(a), "l"(b));                                                           \
  }                                                                                           \
  __device__ inline void multiply(Type, std::uint32_t(&d)[n / 2], const std::uint32_t(&a)[4], \
                                  std::uint64_t b) {                                          \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n ptx " {" FATHOM_WGMMA_SUM_NAMES_##n   \
                 "}, {" i0 "," i1 "," i2 "," i3 "}, " i4 in_registers ";"                     \
                 : FATHOM_WGMMA_SUMS_##n                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                       \
  }

// Behind the matrices: whether to add to d[]; signs of A and B; which is transposed.
FATHOM_WGMMA_SHAPES(FATHOM_PRODUCT, F16, "k16.f32.f16.f16", ", 1, 1, 1, 0, 0", ", 1, 1, 1, 0")
FATHOM_WGMMA_SHAPES(FATHOM_PRODUCT, Bf16, "k16.f32.bf16.bf16", ", 1, 1, 1, 0, 0", ", 1, 1, 1, 0")
FATHOM_WGMMA_SHAPES(FATHOM_PRODUCT, Tf32, "k8.f32.tf32.tf32", ", 1, 1, 1", ", 1, 1, 1")
FATHOM_WGMMA_SHAPES(FATHOM_PRODUCT, E4m3, "k32.f32.e4m3.e4m3", ", 1, 1, 1", ", 1, 1, 1")
FATHOM_WGMMA_SHAPES(FATHOM_PRODUCT, S8, "k32.s32.s8.s8", ", 1", ", 1")

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
struct WgmmaOp : TensorOp<ElementType, SumType, rows, N, k_bytes / ElementType::bytes, N / 2> {
  static constexpr int k = k_bytes / ElementType::bytes, b_tile_bytes = N * k_bytes;
  [[maybe_unused]] static constexpr bool from_registers = FromRegisters;
  static constexpr int operand_sets = 1, writing_warps = warpgroup_threads / warp_lanes;
  static constexpr int latency_short_steps = 8, latency_steps = 32;
  static constexpr int throughput_chains = 1, throughput_steps = 32, throughput_warps = 8;
  static constexpr int max_threads = throughput_warps * warp_lanes;
  struct Operands {
    std::byte a[2][a_tile_bytes], b[b_tile_bytes];
    std::uint32_t a_registers[warpgroup_threads][2][4];
  };

  static Operands operands(int) {
    Operands o;
    for (int thread = 0; thread < warpgroup_threads; ++thread)
      for (int i = 0; i < 8; ++i)
        o.a_registers[thread][i / 4][i % 4] = a_register<ElementType>(
            thread % warp_lanes, i % 4, thread / warp_lanes * 16, i / 4);
    const auto put = [](std::byte* tile, int row, int column, int value) {
      const std::uint32_t bits = ElementType::bits(value);
      std::memcpy(tile + tile_offset(row, column * ElementType::bytes), &bits, ElementType::bytes);
    };
    for (int i = 0; i < k; ++i) {
      for (int row = 0; row < rows; ++row)
        for (int parity = 0; parity < 2; ++parity)
          put(o.a[parity], row, i, value_of_a(row, i, parity));
      for (int column = 0; column < N; ++column) put(o.b, column, i, value_of_b(i, column));
    }
    return o;
  }
  /// A tile in shared memory and its registers need not agree: an instruction reads the one or the
  /// other.
  static void randomise(Operands& o, int) {
    std::uint32_t i = 0;
    const auto random = [&] { return random_register<ElementType>(i++); };
    const auto put = [](std::byte* at, std::uint32_t word) { std::memcpy(at, &word, sizeof word); };
    for (int byte = 0; byte < a_tile_bytes; byte += 4) {
      const std::uint32_t word = random();
      put(o.a[0] + byte, word);
      put(o.a[1] + byte, negated<ElementType>(word));
    }
    for (int byte = 0; byte < b_tile_bytes; byte += 4) put(o.b + byte, random());
    for (auto& registers : o.a_registers) {
      for (int r = 0; r < 4; ++r) {
        registers[0][r] = random();
        registers[1][r] = negated<ElementType>(registers[0][r]);
      }
    }
  }
};

}  // namespace

/// A thread's share of a warpgroup's product: its accumulators and where the matrices are.
template <class Op, int Chains>
  requires(Op::threads == warpgroup_threads)
struct Thread<Op, Chains> {
  typename Op::State sums;
  std::uint32_t a_registers[2][4];
  std::uint64_t a[2], b;

  __device__ explicit Thread(const Run& run) {
    __shared__ alignas(128) std::byte shared[2 * a_tile_bytes + Op::b_tile_bytes];
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
  }

  __device__ __forceinline__ void fence() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
  }
  __device__ __forceinline__ void product(int parity) {
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

  template <int Steps>
  __device__ __forceinline__ void depend() {
#pragma unroll
    for (int step = 0; step < Steps; ++step) {
      fence();
      product(step % 2);
      wait();
    }
  }
  template <int Steps>
  __device__ __forceinline__ void issue() {
    fence();
#pragma unroll
    for (int step = 0; step < Steps; ++step) product(step % 2);
    wait();
  }

  /// One last step, which the first warpgroup of a block writes out.
  __device__ void finish(const Run& run) {
    auto* out = reinterpret_cast<typename Op::State*>(run.out) +
                (static_cast<std::size_t>(blockIdx.x) * warpgroup_threads + threadIdx.x) * 2;
    const bool writes = threadIdx.x < warpgroup_threads;
    if (writes) out[0] = sums;
    __syncthreads();
    depend<1>();
    if (writes) out[1] = sums;
  }
};

namespace {

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
  list.push_back(kernels_of<Op<64, R>>(op + "<64" + registers));
  list.push_back(kernels_of<Op<128, R>>(op + "<128" + registers));
  list.push_back(kernels_of<Op<256, R>>(op + "<256" + registers));
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
