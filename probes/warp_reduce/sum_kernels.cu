#include <algorithm>

#include "probes/warp_reduce/stages.cuh"

namespace fathom::warp_reduce {
namespace {

template <class T>
struct Sum {
  const T* source;
  SumLayout layout;
  T* result;
  DynamicState* state;
  T* block_sums;
};

/// A tile of the block's own, or a loop over all vectors or elements.
template <Recipe recipe, class T, int Threads>
__global__ void __launch_bounds__(Threads) atomic_sum(Sum<T> run) {
  ThreadSum<T> own;
  if constexpr (recipe == Recipe::tile) {
    own.add_tile_or_rest(run.source, run.layout, blockIdx.x);
  } else {
    constexpr bool by_vector = recipe == Recipe::loop;
    const uint4* vectors = ThreadSum<T>::vectors_of(run.source, run.layout);
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * Threads;
#pragma unroll 1
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * Threads + threadIdx.x;
         i < (by_vector ? run.layout.vectors : run.layout.elements); i += step) {
      if constexpr (by_vector)
        own.add_vector(vectors[i], 0);
      else
        own.add_element(run.source[i]);
    }
    if (by_vector && blockIdx.x == 0) own.add_ends(run.source, run.layout);
  }
  const T total = block_sum<Threads>(own.total());
  if (threadIdx.x == 0) atomicAdd(run.result, total);
}

/// Grid stage without an atomic addition: every block leaves its sum, the last one adds them.
template <int Threads, class T>
__device__ void add_up_in_last_block(const Sum<T>& run, T total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    run.block_sums[blockIdx.x] = total;
    __threadfence();  // the sum must be visible before the count says that it is there
    is_last = atomicInc(&run.state->blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  T x = 0;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < gridDim.x; i += Threads) x += __ldcg(run.block_sums + i);
  // block_sum's shared memory is free: every thread is past the barrier above, which follows it.
  x = block_sum<Threads>(x);
  if (threadIdx.x == 0) {
    *run.result = x;
    run.state->next_tile = 0;
  }
}

template <class T, int Threads>
__global__ void __launch_bounds__(Threads) dynamic_sum(Sum<T> run) {
  __shared__ unsigned next[2];  // two, so that a fast warp's write meets no slow warp's read
  ThreadSum<T> own;
  std::size_t tile = blockIdx.x;
#pragma unroll 1
  for (int turn = 0; tile < run.layout.tiles(); turn ^= 1) {
    // Asked for before the tile is read, so that the answer is there when it is needed.
    if (threadIdx.x == 0) next[turn] = atomicAdd(&run.state->next_tile, 1u) + gridDim.x;
    own.add_tile_or_rest(run.source, run.layout, tile);
    __syncthreads();
    tile = next[turn];
  }
  add_up_in_last_block<Threads>(run, block_sum<Threads>(own.total()));
}

template <class T>
auto kernel_of(Recipe recipe) {
  using enum Recipe;
  return with_constant<tile, loop, scalar_loop, dynamic>(recipe, [](auto of) {
    constexpr int threads = threads_of(of);
    void (*kernel)(Sum<T>);
    if constexpr (of == dynamic)
      kernel = dynamic_sum<T, threads>;
    else
      kernel = atomic_sum<of, T, threads>;
    return kernel;
  });
}

template <class T, class Wide>
__global__ void partial_sums_of(const T* source, std::size_t elements, Wide* partial_sums) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  Wide sum = 0;
  for (std::size_t i = first; i < elements; i += step) sum += source[i];
  partial_sums[first] = sum;
}

}  // namespace

int resident_blocks(const SumKernel& kernel) {
  return with_type(kernel.element, [&](auto x) {
    return resident_blocks_of(kernel_of<decltype(x)>(kernel.recipe), kernel.threads());
  });
}

std::size_t grid_blocks(const SumKernel& kernel, const SumLayout& layout, int sms) {
  const std::size_t tiles = std::max<std::size_t>(layout.tiles(), 1);
  if (kernel.recipe == Recipe::tile) return tiles;
  if (kernel.recipe == Recipe::dynamic)
    return std::min(
        {tiles, static_cast<std::size_t>(dynamic_blocks_per_sm) * sms, max_dynamic_blocks});
  const std::size_t items = kernel.recipe == Recipe::loop ? layout.vectors : layout.elements;
  const std::size_t wave = static_cast<std::size_t>(resident_blocks(kernel)) * sms;
  return std::clamp<std::size_t>((items + kernel.threads() - 1) / kernel.threads(), 1, wave);
}

void launch_sum(const SumKernel& kernel, const SumRun& run, int sms, cudaStream_t stream) {
  if (kernel.recipe != Recipe::dynamic)
    FATHOM_CUDA(cudaMemsetAsync(run.result, 0, element_bytes(kernel.element), stream));
  const auto blocks = static_cast<int>(grid_blocks(kernel, run.layout, sms));
  with_type(kernel.element, [&](auto x) {
    using T = decltype(x);
    launch(kernel_of<T>(kernel.recipe), {blocks, kernel.threads()}, stream,
           Sum<T>{reinterpret_cast<const T*>(run.source), run.layout,
                  reinterpret_cast<T*>(run.result), run.state,
                  reinterpret_cast<T*>(run.block_sums)});
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
