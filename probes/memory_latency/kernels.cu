#include <algorithm>
#include <memory>
#include <utility>

#include "probes/memory_latency/chase.cuh"

namespace fathom::memory_latency {
namespace {

/// `zero` is a run-time 0, so that no atomic can be simplified away.
template <GlobalLoad kind>
struct Global {
  std::uint64_t zero;

  __device__ std::uint64_t load(std::uint64_t p) const {
    std::uint64_t next;
    if constexpr (kind == GlobalLoad::cached)
      FATHOM_CHASE_LOAD("l", "ld.global.u64 %0, [%1];");
    else if constexpr (kind == GlobalLoad::l2_only)
      FATHOM_CHASE_LOAD("l", "ld.global.cg.u64 %0, [%1];");
    else if constexpr (kind == GlobalLoad::read_only)
      FATHOM_CHASE_LOAD("l", "ld.global.nc.u64 %0, [%1];");
    else if constexpr (kind == GlobalLoad::system)
      FATHOM_CHASE_LOAD("l", "ld.global.cv.u64 %0, [%1];");
    else if constexpr (kind == GlobalLoad::atomic_add)
      FATHOM_CHASE_LOAD("l", "atom.global.add.u64 %0, [%1], %2;", "l"(zero));
    else
      FATHOM_CHASE_LOAD("l", "atom.global.cas.b64 %0, [%1], %2, %2;", "l"(zero));
    return next;
  }

  /// What atomics find is in the L2, and there they take it from.
  __device__ std::uint64_t warm(std::uint64_t p) const {
    constexpr bool atomic = kind == GlobalLoad::atomic_add || kind == GlobalLoad::atomic_cas;
    return Global < atomic ? GlobalLoad::l2_only : kind > {zero}.load(p);
  }
};

template <class Space>
__device__ void warm_up(const Space& space, const Chase& chase) {
  std::uint64_t seen = 0;
#pragma unroll 1
  for (int pass = 0; pass < chase.warm_passes; ++pass) {
#pragma unroll 4
    for (std::uint32_t i = threadIdx.x; i < chase.warm.count; i += warm_threads)
      seen += space.warm(address_of(chase.warm, i));
  }
  if (seen == 0x5EED5EED5EED5EEDull) chase.report->warmed = 1;
}

template <GlobalLoad kind, Timed timed>
__global__ void __launch_bounds__(warm_threads) chase_global(Chase chase, std::uint64_t zero) {
  const Global<kind> space{zero};
  begin_report(chase.report);
  warm_up(space, chase);
  __syncthreads();
  if (threadIdx.x == 0)
    run_chase<timed>(space, address_at(chase.chain, 0), chase.chain.base, chase);
  end_report(chase.report);
}

}  // namespace

__global__ void write_chain(Chain chain) {
  const std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= chain.count) return;
  *reinterpret_cast<std::uint64_t*>(address_at(chain, k)) = address_at(chain, std::uint64_t{k} + 1);
}

LaunchChase global_chase(GlobalLoad load, int carveout_percent) {
  using enum GlobalLoad;
  return [=](const Chase& chase, cudaStream_t stream) {
    with_constant<cached, l2_only, read_only, system, atomic_add, atomic_cas>(load, [&](auto kind) {
      with_timed(chase.timed, [&](auto how) {
        const auto kernel = chase_global<kind, how>;
        FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                         carveout_percent));
        launch(kernel, {1, warm_threads}, stream, chase, std::uint64_t{0});
      });
    });
  };
}

namespace {

__constant__ std::uint32_t constant_words[constant_bytes / 4];

/// Addresses are byte offsets into `constant_words`.
struct Constant {
  __device__ std::uint32_t load(std::uint32_t p) const {
    return *reinterpret_cast<const std::uint32_t*>(
        reinterpret_cast<const std::byte*>(constant_words) + p);
  }
};

struct ParameterWords {
  std::uint32_t values[parameter_bytes / 4];
};

/// Addresses are byte offsets into words that the launch brought along: the constant bank of the
/// kernel's parameters.
struct Parameter {
  const ParameterWords& words;
  __device__ std::uint32_t load(std::uint32_t p) const {
    return *reinterpret_cast<const std::uint32_t*>(
        reinterpret_cast<const std::byte*>(words.values) + p);
  }
};

/// Addresses are texel indices.
struct Texture {
  cudaTextureObject_t object;
  __device__ std::uint32_t load(std::uint32_t p) const {
    return tex1Dfetch<unsigned>(object, static_cast<int>(p));
  }
};

/// A chase whose one thread is the whole grid.
template <Timed timed, class Space>
__device__ void chase_alone(const Space& space, const Chase& chase) {
  begin_report(chase.report);
  run_chase<timed>(space, static_cast<std::uint32_t>(address_at(chase.chain, 0)),
                   chase.chain.base, chase);
  end_report(chase.report);
}

template <Timed timed>
__global__ void chase_constant(Chase chase) {
  chase_alone<timed>(Constant{}, chase);
}

template <Timed timed>
__global__ void chase_parameters(const __grid_constant__ ParameterWords words, Chase chase) {
  chase_alone<timed>(Parameter{words}, chase);
}

template <Timed timed>
__global__ void chase_texture(cudaTextureObject_t texture, Chase chase) {
  chase_alone<timed>(Texture{texture}, chase);
}

// Straight-line code of a length chosen at run time, to fill instruction caches with.

/// `one` is known at run time only, so that no two of these become one.
template <int count>
__device__ __forceinline__ void add_to_sums(float (&sums)[8], float one) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sums[i]) : "f"(one));
}

__device__ __forceinline__ void code_block(float (&sums)[8], float one) {
  // One statement for eight instructions: the compiler limits how many it unrolls.
  constexpr int eights = code_block_sums / 8;
#pragma unroll
  for (int i = 0; i < eights; ++i) {
    asm volatile(
        "fma.rn.f32 %0, %0, %8, %8; fma.rn.f32 %1, %1, %8, %8;fma.rn.f32 %2, %2, %8, %8; "
        "fma.rn.f32 %3, %3, %8, %8;fma.rn.f32 %4, %4, %8, %8; fma.rn.f32 %5, %5, %8, %8;fma.rn.f32 "
        "%6, %6, %8, %8; fma.rn.f32 %7, %7, %8, %8;"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),
          "+f"(sums[6]), "+f"(sums[7])
        : "f"(one));
  }
  add_to_sums<code_block_sums - 8 * eights>(sums, one);
}

/// Executes the first `blocks` code blocks, 1 to most_code_blocks, one after the other.
__device__ __forceinline__ void run_code(int blocks, float (&sums)[8], float one) {
  // Not a loop to be unrolled: for some targets the compiler leaves one of this length a loop.
  const auto run = [&]<int... block>(std::integer_sequence<int, block...>) {
    ((code_block(sums, one), block + 1 == blocks) || ...);
  };
  run(std::make_integer_sequence<int, most_code_blocks>{});
}

}  // namespace

/// A round is the code, then the loads. The first two are of one block, which is in the cache the
/// second time: what such a round takes, the way back to the first block among it, is not the
/// code's.
__global__ void run_code_and_constants(CodeRun run, float one) {
  begin_report(run.report);
  float sums[8] = {};
  std::uint32_t sum = 0;
  std::int64_t in_code = 0, in_loads = 0, of_one_block = 0;
  std::uint32_t p = static_cast<std::uint32_t>(start_of(run.constants));
#pragma unroll 1
  for (int round = -run.warm_rounds - 2; round < run.rounds; ++round) {
    const int blocks = round < -run.warm_rounds && run.blocks > 0 ? 1 : run.blocks;
    const std::int64_t start = clock_now();
    if (blocks > 0) run_code(blocks, sums, one);
    const std::int64_t between = clock_now();
#pragma unroll 4
    for (std::uint32_t i = 0; i < run.constants.count; ++i) {
      sum += p;
      p = Constant{}.load(p);
    }
    // For this the clock after it waits, as for `need`.
    asm volatile("st.global.u64 [%0], %1;" ::"l"(&run.report->end), "l"(std::uint64_t{p})
                 : "memory");
    const std::int64_t end = clock_now();
    if (round < -run.warm_rounds) of_one_block = between - start;
    if (round >= 0) {
      in_code += between - start - of_one_block;
      in_loads += end - between;
    }
  }
  run.report->executed = 0;
  for (const float s : sums) run.report->executed += static_cast<std::uint64_t>(s);
  run.report->base = run.constants.base;
  run.report->sum = sum;
  run.report->clocks = run.constants.count > 0 ? in_loads : in_code;
  end_report(run.report);
}

void copy_to_constant_memory(const std::uint32_t* words, cudaStream_t stream) {
  FATHOM_CUDA(cudaMemcpyToSymbolAsync(constant_words, words, constant_bytes, 0,
                                      cudaMemcpyDeviceToDevice, stream));
}

void launch_constant_chase(const Chase& chase, cudaStream_t stream) {
  with_timed(chase.timed, [&](auto how) { launch(chase_constant<how>, {1, 1}, stream, chase); });
}

LaunchChase parameter_chase(const Chain& chain) {
  const auto words = std::make_shared<ParameterWords>();
  std::ranges::copy(index_image(chain, parameter_bytes), words->values);
  return [=](const Chase& chase, cudaStream_t stream) {
    with_timed(chase.timed,
               [&](auto how) { launch(chase_parameters<how>, {1, 1}, stream, *words, chase); });
  };
}

LaunchChase texture_chase(const void* texels, std::size_t bytes) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void*>(texels);
  resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
  resource.res.linear.sizeInBytes = bytes;
  cudaTextureDesc description = {};
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  FATHOM_CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  const std::shared_ptr<void> owner(nullptr, [=](void*) { cudaDestroyTextureObject(texture); });
  return [texture, owner](const Chase& chase, cudaStream_t stream) {
    with_timed(chase.timed,
               [&](auto how) { launch(chase_texture<how>, {1, 1}, stream, texture, chase); });
  };
}

}  // namespace fathom::memory_latency
