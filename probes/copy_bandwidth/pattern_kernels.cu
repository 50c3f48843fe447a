// Copies with a stride, and rows read along and across the lanes.

#include "probes/copy_bandwidth/kernels.h"
#include "probes/device/launch.h"
#include "probes/device/threads.cuh"

namespace fathom::copy_bandwidth {
namespace {

template <class P, Strided side>
__global__ void strided_copy(const P* src, P* dst, std::size_t packs, unsigned stride) {
  const std::size_t i = thread_number();
  if (i >= packs) return;
  if constexpr (side == Strided::loads)
    dst[i] = src[i * stride];
  else
    dst[i * stride] = src[i];
}

/// Also that what lies between the packs of a strided store still holds its poison.
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

/// A warp a row, from the row's end: another order of work than the kernel that it checks.
__global__ void check_rows(RowRun run, unsigned long long* wrong) {
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

}  // namespace

void launch_strided_copy(const StridedRun& run, cudaStream_t stream) {
  with_constant<4, 16>(
      run.pack_bytes,
      [&](auto bytes) {
        with_constant<Strided::loads, Strided::stores>(
            run.side,
            [&](auto side) {
              using P = std::conditional_t<bytes == 4, float, float4>;
              launch(strided_copy<P, side>, threads_for(run.packs, pattern_threads), stream,
                     reinterpret_cast<const P*>(run.src), reinterpret_cast<P*>(run.dst), run.packs,
                     run.stride);
            });
      });
}

void launch_check_strided_copy(const StridedRun& run, unsigned long long* wrong,
                               cudaStream_t stream) {
  const int pack_words = run.pack_bytes / 4;
  // What lies behind the last pack of a strided store's memory is left out.
  const std::size_t packs =
      run.side == Strided::loads ? run.packs : (run.packs - 1) * run.stride + 1;
  const std::size_t words = packs * pack_words;
  launch(check_strided_copy, threads_for(words, pattern_threads), stream,
         reinterpret_cast<const std::uint32_t*>(run.src),
         reinterpret_cast<const std::uint32_t*>(run.dst), words, pack_words, run.stride, run.side,
         wrong);
}

void launch_fold_rows(const RowRun& run, cudaStream_t stream) {
  launch(fold_rows, threads_for(run.rows, pattern_threads), stream, run.src, run.dst, run.columns,
         run.row_step, run.column_step);
}

void launch_check_rows(const RowRun& run, unsigned long long* wrong, cudaStream_t stream) {
  launch(check_rows, threads_for(std::size_t{run.rows} * 32, pattern_threads), stream, run, wrong);
}

}  // namespace fathom::copy_bandwidth
