// Any product: 64 x 64 tiles, 4 x 4 elements a thread, steps of 16, every index checked, no tensor
// core. Not a lesson: what it computes, the lessons' kernels can leave out.

#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/ladder/simt_lesson.h"

namespace fathom::gemm {

template <class In, class Out, class Sum>
__global__ void __launch_bounds__(256) any_product(Product<In, Out, Sum> p) {
  constexpr int side = 64, step = 16, threads = 256;
  __shared__ Sum tile_a[step][side + 2], tile_b[step][side];
  const int tiles_n = (p.n + side - 1) / side, thread = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) / tiles_n * side;
  const int column = static_cast<int>(blockIdx.x) % tiles_n * side;
  const int thread_row = thread / 16 * 4, thread_column = thread % 16 * 4;
  Sum sums[4][4] = {};
  for (int first = 0; first < p.k; first += step) {
#pragma unroll
    for (int i = thread; i < side * step; i += threads) {
      const int r = row + i / step, k = first + i % step;
      tile_a[i % step][i / step] = r < p.m && k < p.k ? static_cast<Sum>(p.a(r, k)) : Sum(0);
    }
#pragma unroll
    for (int i = thread; i < side * step; i += threads) {
      const int k = first + i / side, c = column + i % side;
      tile_b[i / side][i % side] = k < p.k && c < p.n ? static_cast<Sum>(p.b(k, c)) : Sum(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < step; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sums[i][j] += tile_a[k][thread_row + i] * tile_b[k][thread_column + j];
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

RungPlan fallback_plan(const Problem& problem) {
  RungPlan plan;
  plan.own_path = false;
  with_types(problem.of, [&]<class T>(T) {
    using In = typename T::In;
    using Out = typename T::Out;
    using Sum = typename T::Scalar;
    constexpr auto kernel = &any_product<In, Out, Sum>;
    constexpr int threads = 256;
    if (!is_empty(problem)) plan.kernel = {reinterpret_cast<const void*>(kernel), threads};
    plan.launch = [](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
      if (is_empty(arguments.problem)) return;
      const auto p = row_major<In, Out, Sum>(arguments);
      launch_blocks(kernel, dim3(TileGrid(p.m, p.n, 64, 64).blocks()), threads, p, stream);
    };
  });
  return plan;
}

}  // namespace fathom::gemm
