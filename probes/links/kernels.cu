#include "probes/links/kernels.h"

#include "probes/device/access.cuh"

namespace fathom::links {
namespace {

/// In flight of one thread.
constexpr int copy_packs_per_turn = 4;

/// The finaliser of MurmurHash3 over 64 bits, which mixes every bit of the input into every bit of
/// the output.
__device__ std::uint32_t word_of(std::uint32_t source, std::size_t i) {
  std::uint64_t h = i * 0x9E3779B97F4A7C15ull + source * 0xD1B54A32D192ED03ull + 1;
  h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCDull;
  h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53ull;
  return static_cast<std::uint32_t>(h >> 32);
}

__device__ std::size_t all_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

constexpr int line_words = chase_line_bytes / 4;

}  // namespace

__global__ void fill(std::uint32_t* out, std::size_t words, std::uint32_t source) {
  for (std::size_t i = thread_number(); i < words; i += all_threads()) out[i] = word_of(source, i);
}

__global__ void check(const std::uint32_t* data, std::size_t words, Arrival arrival,
                      unsigned long long* wrong) {
  unsigned long long found = 0;
  for (std::size_t i = thread_number(); i < words; i += all_threads()) {
    std::uint32_t want = 0;
    for (std::uint32_t s = 0; s < arrival.sources; ++s)
      want += word_of(arrival.first_source + s, arrival.first_word + i);
    if (data[i] != want) ++found;
  }
  if (found > 0) atomicAdd(wrong, found);
}

__global__ void __launch_bounds__(copy_threads)
    copy_packs(const uint4* from, uint4* to, std::size_t packs) {
  const std::size_t step = all_threads();
  std::size_t i = thread_number();
  for (; i + (copy_packs_per_turn - 1) * step < packs; i += copy_packs_per_turn * step) {
    uint4 v[copy_packs_per_turn];
#pragma unroll
    for (int k = 0; k < copy_packs_per_turn; ++k) v[k] = __ldcv(from + i + k * step);
#pragma unroll
    for (int k = 0; k < copy_packs_per_turn; ++k) to[i + k * step] = v[k];
  }
#pragma unroll 1
  for (; i < packs; i += step) to[i] = __ldcv(from + i);
}

__global__ void chain(std::uint32_t* lines) {
  const unsigned i = thread_number();
  if (i < chase_lines) lines[i * line_words] = (i + 1) % chase_lines;
}

__global__ void chase(const std::uint32_t* lines, std::uint32_t at, int loads, unsigned working,
                      std::uint32_t* end) {
  if (blockIdx.x != working) return;
#pragma unroll 1
  for (int i = 0; i < loads; ++i) at = __ldcv(lines + at * line_words);
  *end = at;
}

}  // namespace fathom::links
