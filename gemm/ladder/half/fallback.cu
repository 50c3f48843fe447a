// Any product of fp16 or bf16: 64 x 64 tiles, 4 x 4 elements a thread, every index checked, no
// tensor core. Not a lesson: it computes what the lessons' kernels leave out.

#include "gemm/blocks/epilogue.cuh"
#include "gemm/ladder/half/half_lesson.cuh"

namespace fathom::gemm {
namespace {

constexpr int side = 64, step = 16, threads = 256;

template <class Element>
__global__ void __launch_bounds__(threads) half_fallback_product(half::HalfProduct<Element> p) {
  __shared__ float tile_a[step][side + 2], tile_b[step][side];
  const int tiles_n = (p.n + side - 1) / side, thread = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) / tiles_n * side;
  const int column = static_cast<int>(blockIdx.x) % tiles_n * side;
  const int thread_row = thread / 16 * 4, thread_column = thread % 16 * 4;
  float sums[4][4] = {};
  for (int first = 0; first < p.k; first += step) {
#pragma unroll
    for (int i = thread; i < side * step; i += threads) {
      const int r = row + i / step, k = first + i % step;
      tile_a[i % step][i / step] = r < p.m && k < p.k ? static_cast<float>(p.a(r, k)) : 0.0f;
    }
#pragma unroll
    for (int i = thread; i < side * step; i += threads) {
      const int k = first + i / side, c = column + i % side;
      tile_b[i / side][i % side] = k < p.k && c < p.n ? static_cast<float>(p.b(k, c)) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < step; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sums[i][j] = fmaf(tile_a[k][thread_row + i], tile_b[k][thread_column + j], sums[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int r = row + thread_row + i, c = column + thread_column + j;
      if (r < p.m && c < p.n) store_element(p, r, c, sums[i][j]);
    }
  }
}

template <class Element>
void launch(const Arguments& arguments, cudaStream_t stream) {
  const half::HalfProduct<Element> p = row_major<Element, Element, float>(arguments);
  half_fallback_product<Element>
      <<<TileGrid(p.m, p.n, side, side).blocks(), threads, 0, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace

void launch_half_fallback(const Arguments& arguments, cudaStream_t stream) {
  if (is_empty(arguments.problem)) return;
  if (arguments.problem.of == Class::fp16) return launch<__half>(arguments, stream);
  launch<__nv_bfloat16>(arguments, stream);
}

}  // namespace fathom::gemm
