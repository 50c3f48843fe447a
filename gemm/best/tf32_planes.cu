#include "gemm/best/tf32_planes.h"

#include <algorithm>
#include <iterator>

#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/tf32_split.cuh"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32_3xtf32 {
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

/// A product is skinny where one operand is so many times the other's size.
constexpr std::int64_t skinny_ratio = 8;

/// Lower is better to split before the product.
int effort(const TmaOperand& x, const TmaOperand& other) {
  int effort = 0;
  if (x.outer > skinny_ratio * other.outer) effort += 4;
  if (columns_aligned(x.stride, x.element, map_alignment)) effort += 2;
  if (x.major != Major::k) effort += 1;
  return effort;
}

constexpr std::int64_t tile_rows = 128, stage_k = 32;

/// Clocks of a stage: three products of 128 rows, at 1024 multiply-adds of tf32 a clock; narrow
/// tiles wait for each other's loads, 15 % longer (on an H200 at 4096³ 119 against 137 TFLOP/s). At
/// least what an SM's share of the bus takes for 16 KiB, 4.6 TB/s over 132 SMs at 1.8 GHz.
double stage_clocks(const SplitTile& tile) {
  constexpr double least = 850, narrow = 1.15;
  const double clocks = 3.0 * tile_rows * tile.columns * stage_k / 1024;
  return std::max(least, tile.columns < 128 ? clocks * narrow : clocks);
}

/// Clocks beside the stages of so many waves: to fill the ring and to store a tile, and more where
/// blocks add their sums. Each wave of those after the first costs more than that explains, 15 to
/// 24 thousand in the recorded times of products of 3, 9, 13 and 15 such waves, where a clock of
/// this model is 0.60 ns in those of whole tiles (docs/gemm/tuning.md).
double other_clocks(const SplitTile& tile, std::int64_t waves) {
  constexpr double whole = 3000, shared = 8000, later_shared = 19000;
  const auto n = static_cast<double>(waves);
  return tile.split_k > 1 ? shared + (n - 1) * later_shared : n * whole;
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

SplitChoice choose_operands(const Arguments& arguments) {
  // In row-major terms: `a` is BLAS's B and `b` is BLAS's A.
  const TmaOperands plain = TmaOperands::of(arguments);
  // Equal effort: the product in row-major terms, whose C is contiguous along its columns.
  if (effort(plain.b, plain.a) <= effort(plain.a, plain.b)) return {plain.a, plain.b, false};
  return {plain.b, plain.a, true};
}

int best_tile(std::int64_t rows, std::int64_t columns, std::int64_t k, int sms) {
  int best = 0;
  double least = 0;
  for (int i = 0; i < static_cast<int>(std::size(split_tiles)); ++i) {
    const SplitTile& tile = split_tiles[i];
    const std::int64_t blocks =
        ceil_div(rows, tile_rows) * ceil_div(columns, tile.columns) * tile.split_k;
    const double stages = static_cast<double>(ceil_div(ceil_div(k, stage_k), tile.split_k));
    const std::int64_t waves = ceil_div(blocks, sms);
    const double clocks =
        static_cast<double>(waves) * stages * stage_clocks(tile) + other_clocks(tile, waves);
    if (i > 0 && clocks >= least) continue;
    best = i;
    least = clocks;
  }
  return best;
}

}  // namespace fathom::gemm::fp32_3xtf32
