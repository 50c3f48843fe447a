// Copies with a stride, and rows read along and across the lanes.

#include "probes/copy_bandwidth/kernels.h"
#include "probes/device/threads.cuh"

namespace fathom::copy_bandwidth {
namespace {

template <class P, Strided side>
__global__ void strided_copy(const std::byte* src, std::byte* dst, std::size_t packs,
                             unsigned stride) {
  const auto* from = reinterpret_cast<const P*>(src);
  auto* to = reinterpret_cast<P*>(dst);
  const std::size_t i = thread_number();
  if (i >= packs) return;
  if constexpr (side == Strided::loads)
    to[i] = from[i * stride];
  else
    to[i * stride] = from[i];
}

}  // namespace

__global__ void check_strided_copy(const std::uint32_t* src, const std::uint32_t* dst,
                                   std::size_t words, int pack_words, unsigned stride, Strided side,
                                   unsigned long long* wrong) {
  const std::size_t word = thread_number();
  if (word >= words) return;
  const std::size_t pack = word / pack_words, within = word % pack_words;
  std::uint32_t expected = ~0u;
  if (side == Strided::loads)
    expected = src[pack * stride * pack_words + within];
  else if (pack % stride == 0)
    expected = src[pack / stride * pack_words + within];
  if (dst[word] != expected) atomicAdd(wrong, 1ull);
}

__global__ void fold_rows(const std::uint32_t* src, std::uint32_t* dst, std::uint32_t columns,
                          std::size_t row_step, std::size_t column_step) {
  const std::size_t row = thread_number();
  const std::uint32_t* p = src + row * row_step;
  std::uint32_t folded = 0;
#pragma unroll 4
  for (std::uint32_t column = 0; column < columns; ++column) folded ^= p[column * column_step];
  dst[row] = folded;
}

/// From the row's end: another order of work than the kernel that it checks.
__global__ void check_rows(FoldedRows run, unsigned long long* wrong) {
  const std::size_t row = thread_number() / 32;
  if (row >= run.rows) return;
  std::uint32_t folded = 0;
  for (std::int64_t column = static_cast<std::int64_t>(run.columns) - 1 - threadIdx.x % 32;
       column >= 0; column -= 32)
    folded ^= run.src[row * run.row_step + column * run.column_step];
  for (int distance = 16; distance > 0; distance /= 2)
    folded ^= __shfl_xor_sync(~0u, folded, distance);
  if (threadIdx.x % 32 == 0 && run.dst[row] != folded) atomicAdd(wrong, 1ull);
}

StridedCopy strided_copy_of(int pack_bytes, Strided side) {
  using enum Strided;
  if (pack_bytes == 4)
    return side == loads ? strided_copy<float, loads> : strided_copy<float, stores>;
  return side == loads ? strided_copy<float4, loads> : strided_copy<float4, stores>;
}

}  // namespace fathom::copy_bandwidth
