#include "probes/warp_reduce/kernels.h"

#include "probes/device/launch.h"
#include "probes/warp_reduce/stages.cuh"

// Each warp repeats reductions whose input is the last one's result. With one warp on the SM the
// clocks are a reduction's latency, with 32 of two chains each what the SM sustains. And the block
// stage as published (claim R3), and with its one mistake mended.

namespace fathom::warp_reduce {
namespace {

constexpr unsigned all_lanes = 0xFFFFFFFFu;

template <class T, int Chains>
struct Shared {
  T values[2][Chains][32];  ///< two halves, so that the butterfly's reads meet no writes
};

template <WarpMethod Method, int Chains, class T>
__device__ void shuffle(T (&x)[Chains]) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
#pragma unroll
    for (int c = 0; c < Chains; ++c) {
      x[c] += Method == WarpMethod::shuffle_xor ? __shfl_xor_sync(all_lanes, x[c], distance)
                                                : __shfl_down_sync(all_lanes, x[c], distance);
    }
  }
}

template <int Chains>
__device__ void reduce_add(unsigned (&x)[Chains]) {
#if __CUDA_ARCH__ >= 800
#pragma unroll
  for (int c = 0; c < Chains; ++c) x[c] = __reduce_add_sync(all_lanes, x[c]);
#else
  __trap();  // never launched there
#endif
}

/// The textbook's tree: what a lane has stays in a register, only what others need goes through
/// shared memory.
template <int Chains, class T>
__device__ void shared_tree(T (&x)[Chains], Shared<T, Chains>& shared, int lane) {
#pragma unroll
  for (int c = 0; c < Chains; ++c) shared.values[0][c][lane] = x[c];
  __syncwarp();
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    if (lane < distance) {
#pragma unroll
      for (int c = 0; c < Chains; ++c) {
        x[c] += shared.values[0][c][lane + distance];
        shared.values[0][c][lane] = x[c];
      }
    }
    __syncwarp();
  }
#pragma unroll
  for (int c = 0; c < Chains; ++c) x[c] = shared.values[0][c][0];
  __syncwarp();  // the next reduction's first store must not overtake a lane's read
}

template <int Chains, class T>
__device__ void shared_butterfly(T (&x)[Chains], Shared<T, Chains>& shared, int lane) {
  int half = 0;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2, half ^= 1) {
#pragma unroll
    for (int c = 0; c < Chains; ++c) shared.values[half][c][lane] = x[c];
    __syncwarp();
#pragma unroll
    for (int c = 0; c < Chains; ++c) x[c] += shared.values[half][c][lane ^ distance];
  }
  __syncwarp();  // five steps: the next reduction begins with the half that was read last
}

template <WarpMethod Method, int Chains, class T>
__device__ void reduce(T (&x)[Chains], Shared<T, Chains>& shared, int lane) {
  if constexpr (Method == WarpMethod::shuffle_xor || Method == WarpMethod::shuffle_down)
    shuffle<Method>(x);
  if constexpr (Method == WarpMethod::reduce_add) reduce_add(x);
  if constexpr (Method == WarpMethod::shared_tree) shared_tree(x, shared, lane);
  if constexpr (Method == WarpMethod::shared_butterfly) shared_butterfly(x, shared, lane);
}

/// Divides by 32 to the power of the reductions of a round, exactly for floating point.
template <Element Type, class T>
__device__ T renormalised(T x) {
  constexpr int shift = 5 * reductions_per_round(Type);
  if constexpr (Type == Element::i32) {
    return x >> shift;
  } else {
    constexpr double scale = 1.0 / (static_cast<double>(1ull << (shift / 2)) *
                                    static_cast<double>(1ull << (shift - shift / 2)));
    return x * static_cast<T>(scale);
  }
}

template <WarpMethod Method, Element Type, int Chains>
__global__ void __launch_bounds__(1024)
    warp_stage(int rounds, long long* clocks, TypeOf<Type>* out) {
  using T = TypeOf<Type>;
  extern __shared__ unsigned char dynamic_shared[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  auto& shared = reinterpret_cast<Shared<T, Chains>*>(dynamic_shared)[warp];
  T x[Chains];
#pragma unroll
  for (int c = 0; c < Chains; ++c) x[c] = static_cast<T>(start_value(lane, c));
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < reductions_per_round(Type); ++i) reduce<Method, Chains>(x, shared, lane);
#pragma unroll
    for (int c = 0; c < Chains; ++c) x[c] = renormalised<Type>(x[c]);
  }
  const long long end = clock64();
  const std::size_t global_warp =
      static_cast<std::size_t>(blockIdx.x) * (blockDim.x / 32) + warp;
#pragma unroll
  for (int c = 0; c < Chains; ++c) out[(global_warp * Chains + c) * 32 + lane] = x[c];
  if (lane == 0) {
    clocks[2 * global_warp] = start;
    clocks[2 * global_warp + 1] = end;
  }
}

/// The published one stores the first warp's lanes where each warp's first lane belongs.
template <bool published>
__global__ void block_stage(const float* source, float* sums) {
  __shared__ float partial[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float x = source[blockIdx.x * block_stage_threads + threadIdx.x];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    x += __shfl_down_sync(all_lanes, x, distance);
  if ((published ? warp : lane) == 0) partial[published ? lane : warp] = x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < block_stage_threads / 32; ++i) x += partial[i];
  sums[blockIdx.x] = x;
}

}  // namespace

void launch_warp_stage(const WarpStage& stage, int blocks, long long* clocks, std::byte* out,
                       cudaStream_t stream) {
  using enum WarpMethod;
  using enum Element;
  with_constant<f32, i32, f64>(stage.type, [&](auto type) {
    using T = TypeOf<type>;
    with_constant<1, max_chains>(stage.chains, [&](auto chains) {
      const auto of_method = [&](auto method) {
        const int shared = stage.in_shared() ? stage.warps * sizeof(Shared<T, chains>) : 0;
        launch(warp_stage<method, type, chains>, {blocks, stage.warps * 32, shared}, stream,
               stage.rounds, clocks, reinterpret_cast<T*>(out));
      };
      if constexpr (type == i32) {
        if (stage.method == reduce_add) return with_constant<reduce_add>(stage.method, of_method);
      }
      with_constant<shuffle_xor, shuffle_down, shared_tree, shared_butterfly>(stage.method,
                                                                              of_method);
    });
  });
}

void launch_block_stage(bool published, const float* source, float* sums, int blocks,
                        cudaStream_t stream) {
  launch(published ? block_stage<true> : block_stage<false>, {blocks, block_stage_threads}, stream,
         source, sums);
}

}  // namespace fathom::warp_reduce
