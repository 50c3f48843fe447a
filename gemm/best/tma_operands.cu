#include "gemm/best/tma_operands.h"

#include <utility>

#include "gemm/blocks/tensor_map.h"
#include "harness/cuda_check.h"
#include "results/error.h"

namespace fathom::gemm {
namespace {

constexpr int copy_threads = 256, words_a_thread = 8;
constexpr int chunk_words = copy_threads * words_a_thread;

/// Lines of bytes, each from its own alignment to 16 bytes: a thread joins each of its words from
/// the two aligned ones that it lies across, of which the second is another lane's first.
__global__ void __launch_bounds__(copy_threads)
    realign(const std::byte* source, std::int64_t length, std::int64_t stride, std::byte* target,
            std::int64_t target_stride, int chunks) {
  const std::int64_t line = blockIdx.x / chunks;
  const std::int64_t first_word = std::int64_t{blockIdx.x % chunks} * chunk_words + threadIdx.x;
  const std::byte* const start = source + line * stride;
  const auto offset = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(start) & 3);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(start - offset);
  auto* const out = reinterpret_cast<std::uint32_t*>(target + line * target_stride);
  const std::int64_t out_words = (length + 3) / 4, in_words = (offset + length + 3) / 4;
  // All reads before the first write: the compiler may not move a read over a write.
  std::uint32_t low[words_a_thread], high[words_a_thread];
#pragma unroll
  for (int i = 0; i < words_a_thread; ++i) {
    const std::int64_t word = first_word + i * copy_threads;
    low[i] = word < out_words ? words[word] : 0;
    high[i] = offset != 0 && word + 1 < in_words ? words[word + 1] : 0;
  }
#pragma unroll
  for (int i = 0; i < words_a_thread; ++i) {
    const std::int64_t word = first_word + i * copy_threads;
    if (word < out_words) out[word] = __funnelshift_r(low[i], high[i], offset * 8);
  }
}

constexpr int side = 64, transpose_rows = 8;

/// Tiles of 64 x 64, read along the source's lines and written along the target's.
template <class T>
__global__ void __launch_bounds__(32 * transpose_rows)
    transpose(const T* source, std::int64_t lines, std::int64_t length, std::int64_t stride,
              T* target, std::int64_t target_stride, int tiles_along) {
  __shared__ T tile[side][side + (sizeof(T) < 4 ? 4 / sizeof(T) : 1)];
  const std::int64_t line = std::int64_t{blockIdx.x / tiles_along} * side;
  const std::int64_t element = std::int64_t{blockIdx.x % tiles_along} * side;
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32;
  // All reads before the first write: the compiler may not move a read over a write.
  constexpr int passes = side / transpose_rows, across = side / 32;
  T read[passes][across];
#pragma unroll
  for (int i = 0; i < passes; ++i) {
#pragma unroll
    for (int j = 0; j < across; ++j) {
      const int y = row + i * transpose_rows, x = lane + j * 32;
      const bool inside = line + y < lines && element + x < length;
      read[i][j] = inside ? source[(line + y) * stride + element + x] : T{};
    }
  }
#pragma unroll
  for (int i = 0; i < passes; ++i) {
#pragma unroll
    for (int j = 0; j < across; ++j) tile[row + i * transpose_rows][lane + j * 32] = read[i][j];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < passes; ++i) {
#pragma unroll
    for (int j = 0; j < across; ++j) {
      const int y = row + i * transpose_rows, x = lane + j * 32;
      if (element + y < length && line + x < lines)
        target[(element + y) * target_stride + line + x] = tile[x][y];
    }
  }
}

/// Copies its transpose. Elements of 16 bits are taken in every layout.
template <class T>
void launch_transpose(const TmaOperand& x, void* target, std::int64_t target_stride,
                      cudaStream_t stream) {
  const std::int64_t along = ceil_div(x.inner(), side);
  const std::int64_t blocks = along * ceil_div(x.lines(), side);
  transpose<T><<<static_cast<unsigned>(blocks), 32 * transpose_rows, 0, stream>>>(
      static_cast<const T*>(x.data), x.lines(), x.inner(), x.stride, static_cast<T*>(target),
      target_stride, static_cast<int>(along));
  FATHOM_CUDA(cudaGetLastError());
}

/// The operand as its copy lies, but for its address, and the copy's bytes; 0 if none is needed.
std::pair<TmaOperand, std::size_t> copy_of(TmaOperand x, const std::optional<Major>& taken) {
  if ((!taken || *taken == x.major) && columns_aligned(x.stride, x.element, map_alignment))
    return {x, 0};
  x.major = taken.value_or(x.major);
  const int bytes = element_bytes(x.element), unit = map_alignment / bytes;
  x.stride = ceil_div(x.inner(), unit) * unit;
  return {x, workspace_part(static_cast<std::size_t>(x.stride * x.lines() * bytes))};
}

}  // namespace

void launch_realign(const TmaOperand& x, void* target, std::int64_t target_stride,
                    cudaStream_t stream) {
  const int bytes = element_bytes(x.element);
  const std::int64_t chunks = ceil_div(ceil_div(x.inner() * bytes, 4), chunk_words);
  realign<<<static_cast<unsigned>(chunks * x.lines()), copy_threads, 0, stream>>>(
      static_cast<const std::byte*>(x.data), x.inner() * bytes, x.stride * bytes,
      static_cast<std::byte*>(target), target_stride * bytes, static_cast<int>(chunks));
  FATHOM_CUDA(cudaGetLastError());
}

std::size_t copy_bytes(const TmaOperand& x, const std::optional<Major>& taken) {
  return copy_of(x, taken).second;
}

TmaOperand prepare(const TmaOperand& x, const std::optional<Major>& taken, std::byte*& workspace,
                   cudaStream_t stream) {
  auto [copy, bytes] = copy_of(x, taken);
  if (bytes == 0) return x;
  copy.data = workspace;
  if (copy.major != x.major && element_bytes(x.element) == 2)
    throw Error(ExitCode::check_failed, "No kernel transposes elements of this size.");
  const auto launch = copy.major == x.major           ? launch_realign
                      : element_bytes(x.element) == 1 ? launch_transpose<std::uint8_t>
                      : element_bytes(x.element) == 4 ? launch_transpose<std::uint32_t>
                                                      : launch_transpose<std::uint64_t>;
  launch(x, workspace, copy.stride, stream);
  workspace += bytes;
  return copy;
}

CUtensorMap box_map(const TmaOperand& x, int side, int k) {
  const bool along_k = x.major == Major::k;
  return tensor_map(x.data, x.element, x.inner(), x.lines(), x.stride, along_k ? side : k,
                    along_k ? k : side);
}

std::size_t TmaOperands::copy_bytes(const Problem& problem, bool swapped,
                                    const MajorsTaken& taken) {
  const TmaOperands plain = of({problem}, swapped);
  return gemm::copy_bytes(plain.a, taken.a) + gemm::copy_bytes(plain.b, taken.b);
}

TmaOperands TmaOperands::prepared(const Arguments& arguments, bool swapped,
                                  const MajorsTaken& taken, std::byte* workspace,
                                  cudaStream_t stream) {
  const TmaOperands plain = of(arguments, swapped);
  return {prepare(plain.a, taken.a, workspace, stream),
          prepare(plain.b, taken.b, workspace, stream)};
}

}  // namespace fathom::gemm
