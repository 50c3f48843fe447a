#include "probes/warp_reduce/kernels.h"

#include <algorithm>
#include <stdexcept>

#include "probes/device/launch.h"
#include "probes/warp_reduce/stages.cuh"

namespace fathom::warp_reduce {
namespace {

template <class T>
struct Sum {
  const T* source;
  SumLayout layout;
  Accumulator<T>* result;
  DynamicState* state;
  Accumulator<T>* block_sums;
};

/// A tile of the block's own, or a loop over all vectors or elements.
template <Recipe recipe, class T, int Threads>
__global__ void __launch_bounds__(Threads) atomic_sum(Sum<T> sum) {
  ThreadSum<T> own;
  if constexpr (recipe == Recipe::tile) {
    own.template add_tile_or_rest<Threads>(sum.source, sum.layout, blockIdx.x);
  } else {
    constexpr bool by_vector = recipe == Recipe::loop;
    const uint4* vectors = ThreadSum<T>::vectors_of(sum.source, sum.layout);
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * Threads;
#pragma unroll 1
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * Threads + threadIdx.x;
         i < (by_vector ? sum.layout.vectors : sum.layout.elements); i += step) {
      if constexpr (by_vector)
        own.add_vector(vectors[i], 0);
      else
        own.add_element(sum.source[i]);
    }
    if (by_vector && blockIdx.x == 0) own.add_ends(sum.source, sum.layout);
  }
  const auto total = block_sum<Threads>(own.total());
  if (threadIdx.x == 0) atomicAdd(sum.result, total);
}

/// Grid stage without an atomic addition: every block leaves its sum, the last one adds them.
template <int Threads, class T>
__device__ void add_up_in_last_block(const Sum<T>& sum, Accumulator<T> total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    sum.block_sums[blockIdx.x] = total;
    __threadfence();  // the sum must be visible before the count says that it is there
    is_last = atomicInc(&sum.state->blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  Accumulator<T> x = 0;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < gridDim.x; i += Threads) x += __ldcg(sum.block_sums + i);
  // block_sum's shared memory is free: every thread is past the barrier above, which follows it.
  x = block_sum<Threads>(x);
  if (threadIdx.x == 0) {
    *sum.result = x;
    sum.state->next_tile = 0;
  }
}

template <class T, int Threads>
__global__ void __launch_bounds__(Threads) dynamic_sum(Sum<T> sum) {
  __shared__ unsigned next[2];  // two, so that a fast warp's write meets no slow warp's read
  ThreadSum<T> own;
  std::size_t tile = blockIdx.x;
#pragma unroll 1
  for (int turn = 0; tile < sum.layout.tiles(); turn ^= 1) {
    // Asked for before the tile is read, so that the answer is there when it is needed.
    if (threadIdx.x == 0) next[turn] = atomicAdd(&sum.state->next_tile, 1u) + gridDim.x;
    own.template add_tile_or_rest<Threads>(sum.source, sum.layout, tile);
    __syncthreads();
    tile = next[turn];
  }
  add_up_in_last_block<Threads>(sum, block_sum<Threads>(own.total()));
}

template <class T>
using Kernel = void (*)(Sum<T>);

template <class T>
Kernel<T> kernel_of(const SumKernel& kernel) {
  using enum Recipe;
  if (kernel.recipe == tile) {
    if (kernel.threads == 512) return atomic_sum<tile, T, 512>;
    if constexpr (std::is_same_v<T, float>) {
      if (kernel.threads == 128) return atomic_sum<tile, T, 128>;
      if (kernel.threads == 256) return atomic_sum<tile, T, 256>;
      if (kernel.threads == 1024) return atomic_sum<tile, T, 1024>;
    }
  }
  if (kernel.recipe == dynamic && kernel.threads == 512) return dynamic_sum<T, 512>;
  if (kernel.threads == loop_threads) {
    if (kernel.recipe == loop) return atomic_sum<loop, T, loop_threads>;
    if (kernel.recipe == scalar_loop) return atomic_sum<scalar_loop, T, loop_threads>;
  }
  throw std::invalid_argument("no sum kernel of this block size was compiled");
}

/// Calls `f` with a value of the element's type.
template <class F>
auto with_type(Element element, F&& f) {
  using enum Element;
  return with_constant<f32, f64, i32, f16, bf16>(
      element, [&](auto of) { return f(TypeOf<of>{}); });
}

template <class T, class Wide>
__global__ void partial_sums_of(const T* source, std::size_t elements, Wide* partial_sums) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  Wide sum = 0;
  for (std::size_t i = first; i < elements; i += step)
    if constexpr (std::is_same_v<Wide, double> && !std::is_same_v<T, double>)
      sum += static_cast<double>(static_cast<float>(source[i]));
    else
      sum += source[i];
  partial_sums[first] = sum;
}

}  // namespace

int resident_blocks(const SumKernel& kernel) {
  return with_type(
      kernel.element,
      [&](auto x) { return resident_blocks_of(kernel_of<decltype(x)>(kernel), kernel.threads); });
}

std::size_t grid_blocks(const SumKernel& kernel, const SumLayout& layout, int sms) {
  const std::size_t tiles = std::max<std::size_t>(layout.tiles(), 1);
  if (kernel.recipe == Recipe::tile) return tiles;
  if (kernel.recipe == Recipe::dynamic)
    return std::min(
        {tiles, static_cast<std::size_t>(dynamic_blocks_per_sm) * sms, max_dynamic_blocks});
  const std::size_t items = kernel.recipe == Recipe::loop ? layout.vectors : layout.elements;
  const std::size_t wave = static_cast<std::size_t>(resident_blocks(kernel)) * sms;
  return std::clamp<std::size_t>((items + kernel.threads - 1) / kernel.threads, 1, wave);
}

void launch_sum(const SumKernel& kernel, const SumRun& run, int sms, cudaStream_t stream) {
  if (kernel.recipe != Recipe::dynamic)
    FATHOM_CUDA(cudaMemsetAsync(run.result, 0, accumulator_bytes(kernel.element), stream));
  const auto blocks = static_cast<int>(grid_blocks(kernel, run.layout, sms));
  with_type(
      kernel.element,
      [&](auto x) {
        using T = decltype(x);
        launch(kernel_of<T>(kernel), {blocks, kernel.threads}, stream,
               Sum<T>{reinterpret_cast<const T*>(run.source), run.layout,
                      reinterpret_cast<Accumulator<T>*>(run.result), run.state,
                      reinterpret_cast<Accumulator<T>*>(run.block_sums)});
      });
}

void launch_reference(Element element, const std::byte* source, std::size_t elements,
                      std::byte* sums, cudaStream_t stream) {
  with_type(
      element,
      [&](auto x) {
        using T = decltype(x);
        using Wide = std::conditional_t<std::is_same_v<T, unsigned>, unsigned long long, double>;
        partial_sums_of<<<reference_blocks, reference_threads, 0, stream>>>(
            reinterpret_cast<const T*>(source), elements, reinterpret_cast<Wide*>(sums));
        FATHOM_CUDA(cudaGetLastError());
      });
}

}  // namespace fathom::warp_reduce
