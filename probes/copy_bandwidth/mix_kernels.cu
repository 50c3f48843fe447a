// Reading, writing and STREAM's kernels. Source of the names: J. D. McCalpin, "Memory Bandwidth and
// Machine Balance in Current High Performance Computers", 1995.

#include "probes/copy_bandwidth/kernels.h"
#include "probes/device/launch.h"
#include "probes/device/threads.cuh"

namespace fathom::copy_bandwidth {
namespace {

constexpr int check_threads = 256;
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

template <Mix mix, class T>
__device__ T combined(T a, T b) {
  if constexpr (mix == Mix::scale) return static_cast<T>(scalar) * a;
  if constexpr (mix == Mix::add) return a + b;
  return fma(static_cast<T>(scalar), b, a);
}

template <Mix mix, class T>
__global__ void combine(const Pack16<T>* a, const Pack16<T>* b, Pack16<T>* out, std::size_t packs) {
  const std::size_t i = thread_number();
  if (i >= packs) return;
  const Pack16<T> x = a[i];
  Pack16<T> y{};
  if constexpr (mix != Mix::scale) y = b[i];
  Pack16<T> result;
#pragma unroll
  for (int k = 0; k < Pack16<T>::count; ++k)
    result.element[k] = combined<mix>(x.element[k], y.element[k]);
  out[i] = result;
}

template <Mix mix, class T>
__global__ void check_combine(const T* a, const T* b, const T* out, std::size_t count,
                              unsigned long long* wrong) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const T y = mix == Mix::scale ? T{} : b[i];
  if (!same_bits(out[i], combined<mix>(a[i], y))) atomicAdd(wrong, 1ull);
}

/// A different word everywhere, never the poison's: equal words could be compressed on their way.
__device__ std::uint32_t word_at(std::size_t i) {
  const auto h = static_cast<std::uint32_t>(i * 0x9E3779B97F4A7C15ull >> 33);
  return h ^ 0x5BD1E995u;  // below 2^31 before and after
}

__global__ void write_index(uint4* out, std::size_t packs) {
  const std::size_t i = thread_number();
  if (i >= packs) return;
  out[i] = make_uint4(word_at(4 * i), word_at(4 * i + 1), word_at(4 * i + 2), word_at(4 * i + 3));
}

__global__ void check_write(const std::uint32_t* out, std::size_t words,
                            unsigned long long* wrong) {
  const std::size_t i = thread_number();
  if (i < words && out[i] != word_at(i)) atomicAdd(wrong, 1ull);
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

/// One thread a fold, word by word.
__global__ void check_fold(const std::uint32_t* a, const std::uint32_t* out, std::size_t folds,
                           unsigned long long* wrong) {
  const std::size_t i = thread_number();
  if (i >= folds) return;
  constexpr std::size_t words = read_bytes_per_fold / 4;
  std::uint32_t folded = 0;
  for (std::size_t k = 0; k < words; ++k) folded ^= a[i * words + k];
  if (out[i] != folded) atomicAdd(wrong, 1ull);
}

}  // namespace

void launch_mix(Mix mix, ElementType type, const MixRun& run, unsigned long long* wrong,
                cudaStream_t stream) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(run.a);
  auto* out = reinterpret_cast<std::uint32_t*>(run.out);
  const std::size_t packs = run.bytes / 16, folds = run.bytes / read_bytes_per_fold;
  const auto check_blocks = [](std::size_t work) { return blocks_for(work, check_threads); };
  switch (mix) {
    case Mix::read:
      if (wrong == nullptr)
        fold<<<blocks_for(folds * 32, run.threads), run.threads, 0, stream>>>(
            reinterpret_cast<const uint4*>(run.a), out);
      else
        check_fold<<<check_blocks(folds), check_threads, 0, stream>>>(words, out, folds, wrong);
      break;
    case Mix::write:
      if (wrong == nullptr)
        write_index<<<blocks_for(packs, run.threads), run.threads, 0, stream>>>(
            reinterpret_cast<uint4*>(run.out), packs);
      else
        check_write<<<check_blocks(4 * packs), check_threads, 0, stream>>>(out, 4 * packs, wrong);
      break;
    default:
      with_constant<Mix::scale, Mix::add, Mix::triad>(mix, [&](auto of) {
        with_constant<ElementType::float32, ElementType::float64>(type, [&](auto element) {
          using T = std::conditional_t<element == ElementType::float32, float, double>;
          using Pack = Pack16<T>;
          const std::size_t count = run.bytes / sizeof(T);
          if (wrong == nullptr)
            combine<of, T><<<blocks_for(packs, run.threads), run.threads, 0, stream>>>(
                reinterpret_cast<const Pack*>(run.a), reinterpret_cast<const Pack*>(run.b),
                reinterpret_cast<Pack*>(run.out), packs);
          else
            check_combine<of, T><<<check_blocks(count), check_threads, 0, stream>>>(
                reinterpret_cast<const T*>(run.a), reinterpret_cast<const T*>(run.b),
                reinterpret_cast<const T*>(run.out), count, wrong);
        });
      });
  }
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::copy_bandwidth
