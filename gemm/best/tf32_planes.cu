#include "gemm/best/tf32_planes.h"

#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/tf32_split.cuh"
#include "harness/cuda_check.h"

namespace fathom::gemm {
namespace {

/// Where an operand's line is in its planes.
struct PlaneLines {
  float* data;
  std::int64_t stride, lines;  ///< lines of each plane
  int columns;

  __device__ float* high(std::int64_t line) const {
    return data + (line / columns * 2 * columns + line % columns) * stride;
  }
  __device__ std::int64_t to_low() const { return columns * stride; }
};

__device__ inline void store_split(float4 x, float* high, std::int64_t to_low) {
  const auto split = [](float value) { return split_tf32(__float_as_uint(value)); };
  const SplitNumber s[4] = {split(x.x), split(x.y), split(x.z), split(x.w)};
  *reinterpret_cast<uint4*>(high) = make_uint4(s[0].high, s[1].high, s[2].high, s[3].high);
  *reinterpret_cast<uint4*>(high + to_low) = make_uint4(s[0].low, s[1].low, s[2].low, s[3].low);
}

constexpr int split_threads = 256, vectors_a_thread = 4;
constexpr int chunk = split_threads * vectors_a_thread * 4;

/// Lines along k, 16 bytes at a time to each plane; `aligned`: from the operand too.
template <bool aligned>
__global__ void __launch_bounds__(split_threads)
    split_along_k(const float* source, std::int64_t lines, std::int64_t length, std::int64_t stride,
                  PlaneLines planes, int chunks) {
  const std::int64_t line = blockIdx.x / chunks;
  const std::int64_t first =
      std::int64_t{blockIdx.x % chunks} * chunk + static_cast<std::int64_t>(threadIdx.x) * 4;
  const float* const in = source + line * stride;
  float* const high = planes.high(line);
  const auto read = [&](std::int64_t k) {
    float4 x = make_float4(0, 0, 0, 0);
    if (line >= lines || k >= length) return x;
    if (aligned && k + 3 < length) return *reinterpret_cast<const float4*>(in + k);
    x.x = in[k];
    if (k + 1 < length) x.y = in[k + 1];
    if (k + 2 < length) x.z = in[k + 2];
    if (k + 3 < length) x.w = in[k + 3];
    return x;
  };
  // Elements read one by one are all read before the first write, which the compiler may not move a
  // read over. Of 16 bytes at a time enough are on their way: there it cost 0.2 %.
  constexpr int reads_at_once = aligned ? 1 : vectors_a_thread;
#pragma unroll
  for (int i = 0; i < vectors_a_thread; i += reads_at_once) {
    float4 x[reads_at_once];
#pragma unroll
    for (int j = 0; j < reads_at_once; ++j) x[j] = read(first + (i + j) * split_threads * 4);
#pragma unroll
    for (int j = 0; j < reads_at_once; ++j) {
      const std::int64_t k = first + (i + j) * split_threads * 4;
      if (k < length) store_split(x[j], high + k, planes.to_low());
    }
  }
}

constexpr int side = 32, rows_at_once = 8;

/// Lines along the outer dimension, by way of shared memory, 32 x 32 at a time: a thread reads one
/// line's elements across lanes, and writes four of k.
__global__ void __launch_bounds__(side* rows_at_once)
    split_across_k(const float* source, std::int64_t outer, std::int64_t depth, std::int64_t stride,
                   PlaneLines planes, int tiles_along_k) {
  __shared__ float tile[side][side + 1];
  const std::int64_t first_line = std::int64_t{blockIdx.x / tiles_along_k} * side;
  const std::int64_t first_k = std::int64_t{blockIdx.x % tiles_along_k} * side;
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32;
  float read[side / rows_at_once];
#pragma unroll
  for (int i = 0; i < side / rows_at_once; ++i) {
    const int k = row + i * rows_at_once;
    const bool inside = first_k + k < depth && first_line + lane < outer;
    read[i] = inside ? source[(first_k + k) * stride + first_line + lane] : 0.0f;
  }
#pragma unroll
  for (int i = 0; i < side / rows_at_once; ++i) tile[row + i * rows_at_once][lane] = read[i];
  __syncthreads();
  const int line = threadIdx.x / (side / 4), k = threadIdx.x % (side / 4) * 4;
  if (first_k + k >= depth) return;
  if (first_line + line >= planes.lines) return;
  const float4 x =
      make_float4(tile[k][line], tile[k + 1][line], tile[k + 2][line], tile[k + 3][line]);
  store_split(x, planes.high(first_line + line) + first_k + k, planes.to_low());
}

}  // namespace

Tf32Planes tf32_planes(const TmaOperand& x, int columns) {
  constexpr std::int64_t unit = map_alignment / sizeof(float);
  return {2 * ceil_div(x.outer, columns) * columns, ceil_div(x.k, unit) * unit};
}

TmaOperand launch_split(const TmaOperand& x, int columns, std::byte* target, cudaStream_t stream) {
  const Tf32Planes made = tf32_planes(x, columns);
  const std::int64_t lines = made.outer / 2;
  const PlaneLines planes{reinterpret_cast<float*>(target), made.stride, lines, columns};
  const auto* const source = static_cast<const float*>(x.data);
  if (x.major == Major::k) {
    const std::int64_t chunks = ceil_div(x.k, chunk);
    const bool aligned = columns_aligned(x.stride, x.element, map_alignment);
    const auto kernel = aligned ? split_along_k<true> : split_along_k<false>;
    kernel<<<static_cast<unsigned>(lines * chunks), split_threads, 0, stream>>>(
        source, x.outer, x.k, x.stride, planes, static_cast<int>(chunks));
  } else {
    const std::int64_t along = ceil_div(x.k, side);
    split_across_k<<<static_cast<unsigned>(ceil_div(lines, side) * along), side * rows_at_once, 0,
                     stream>>>(source, x.outer, x.k, x.stride, planes, static_cast<int>(along));
  }
  FATHOM_CUDA(cudaGetLastError());
  return {target, made.outer, x.k, made.stride, Major::k, x.element};
}

}  // namespace fathom::gemm
