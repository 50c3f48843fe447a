// Copies with a stride, and rows read along and across the lanes; reading, writing and STREAM's
// kernels, whose names are J. D. McCalpin's ("Memory Bandwidth and Machine Balance in Current High
// Performance Computers", 1995).

#include "probes/copy_bandwidth/kernels.h"
#include "probes/device/access.cuh"
#include "probes/device/launch.h"

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

constexpr double scalar = 0.75;  // exact in both types

template <class T>
struct alignas(16) Pack16 {
  static constexpr int count = 16 / sizeof(T);
  T element[count];
};

template <class T>
__device__ bool same_bits(T x, T y) {
  if constexpr (sizeof(T) == 8)
    return __double_as_longlong(x) == __double_as_longlong(y);
  else
    return __float_as_uint(x) == __float_as_uint(y);
}

/// A different word everywhere, never the poison's: equal words could be compressed on their way.
__device__ std::uint32_t word_at(std::size_t i) {
  const auto h = static_cast<std::uint32_t>(i * 0x9E3779B97F4A7C15ull >> 33);
  return h ^ 0x5BD1E995u;  // below 2^31 before and after
}

/// Element `i` of the output, from those of the inputs that there are.
template <Mix mix, class T>
__device__ T combined(T a, T b, std::size_t i) {
  if constexpr (mix == Mix::write) return __uint_as_float(word_at(i));
  if constexpr (mix == Mix::scale) return static_cast<T>(scalar) * a;
  if constexpr (mix == Mix::add) return a + b;
  return fma(static_cast<T>(scalar), b, a);
}

template <Mix mix, class T>
__global__ void combine(const Pack16<T>* a, const Pack16<T>* b, Pack16<T>* out, std::size_t packs) {
  constexpr int count = Pack16<T>::count;
  const std::size_t i = thread_number();
  if (i >= packs) return;
  Pack16<T> x{}, y{}, result;
  if constexpr (inputs_of(mix) >= 1) x = a[i];
  if constexpr (inputs_of(mix) >= 2) y = b[i];
#pragma unroll
  for (int k = 0; k < count; ++k)
    result.element[k] = combined<mix>(x.element[k], y.element[k], i * count + k);
  out[i] = result;
}

template <Mix mix, class T>
__global__ void check_combine(const T* a, const T* b, const T* out, std::size_t count,
                              unsigned long long* wrong) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  T x{}, y{};
  if constexpr (inputs_of(mix) >= 1) x = a[i];
  if constexpr (inputs_of(mix) >= 2) y = b[i];
  if (!same_bits(out[i], combined<mix>(x, y, i))) atomicAdd(wrong, 1ull);
}

/// A warp's own bytes follow each other: turn k of its lanes reads 512 of them.
__global__ void fold(const uint4* a, std::uint32_t* out) {
  const std::size_t warp = thread_number() / 32;
  const unsigned lane = threadIdx.x % 32;
  const uint4* p = a + warp * 32 * read_packs_per_thread + lane;
  uint4 value[read_packs_per_thread];
#pragma unroll
  for (int k = 0; k < read_packs_per_thread; ++k) value[k] = p[k * 32];
  std::uint32_t folded = 0;
#pragma unroll
  for (int k = 0; k < read_packs_per_thread; ++k)
    folded ^= value[k].x ^ value[k].y ^ value[k].z ^ value[k].w;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    folded ^= __shfl_xor_sync(~0u, folded, distance);
  if (lane == 0) out[warp] = folded;
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

void launch_mix(Mix mix, ElementType type, const MixRun& run, unsigned long long* wrong,
                cudaStream_t stream) {
  if (mix == Mix::read) {
    constexpr std::uint32_t words = read_bytes_per_fold / 4;
    const auto folds = static_cast<std::uint32_t>(run.bytes / read_bytes_per_fold);
    const auto* a = reinterpret_cast<const std::uint32_t*>(run.a);
    auto* out = reinterpret_cast<std::uint32_t*>(run.out);
    const Blocks grid = threads_for(std::size_t{folds} * 32, pattern_threads);
    if (wrong != nullptr)
      return launch(check_rows, grid, stream, FoldedRows{a, out, folds, words, words, 1}, wrong);
    return launch(fold, grid, stream, reinterpret_cast<const uint4*>(run.a), out);
  }
  with_constant<Mix::write, Mix::scale, Mix::add, Mix::triad>(mix, [&](auto of) {
    with_constant<ElementType::float32, ElementType::float64>(type, [&](auto element) {
      // What is written has no type.
      constexpr bool is_float = of == Mix::write || element == ElementType::float32;
      using T = std::conditional_t<is_float, float, double>;
      using Pack = Pack16<T>;
      const std::size_t packs = run.bytes / 16, count = run.bytes / sizeof(T);
      if (wrong == nullptr)
        launch(combine<of, T>, threads_for(packs, pattern_threads), stream,
               reinterpret_cast<const Pack*>(run.a), reinterpret_cast<const Pack*>(run.b),
               reinterpret_cast<Pack*>(run.out), packs);
      else
        launch(check_combine<of, T>, threads_for(count, pattern_threads), stream,
               reinterpret_cast<const T*>(run.a), reinterpret_cast<const T*>(run.b),
               reinterpret_cast<const T*>(run.out), count, wrong);
    });
  });
}

}  // namespace fathom::copy_bandwidth
