#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// A chain of elements that a chase follows, computable element by element: kernels write it in
// parallel, and the host knows where a chase ends without a copy of it.

namespace fathom::memory_latency {

/// `count` elements in one cycle of pseudo-random order. Element i lies `stride` bytes after
/// element i - 1, shifted by one of `jitter_slots` multiples of `jitter_bytes` chosen by a hash:
/// elements at random places within their strides fall into all sets of a cache.
struct Chain {
  std::uint64_t base = 0;  ///< address of element 0's stride, as the chasing instruction wants it
  std::uint32_t count = 0;
  std::uint64_t stride = 0;
  std::uint32_t jitter_slots = 1;
  std::uint32_t jitter_bytes = 0;
  std::uint32_t seed = 0x9E3779B9u;
};

/// An element in each `stride` of `bytes`.
constexpr Chain spread(std::size_t bytes, std::uint64_t stride) {
  return {.count = static_cast<std::uint32_t>(bytes / stride), .stride = stride};
}

/// Every bit of the result depends on every bit of x (the finaliser of MurmurHash3, A. Appleby).
__host__ __device__ constexpr std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}

/// The element at position `k` of the cycle, 0 <= k < count: a bijection of [0, count), made by
/// four Feistel rounds on the smallest even number of bits that holds count, repeated until the
/// result is below count (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
__host__ __device__ constexpr std::uint32_t element_at(const Chain& chain, std::uint32_t k) {
  int half = 1;
  while (half < 16 && (std::uint64_t{1} << (2 * half)) < chain.count) ++half;
  const std::uint32_t mask = (1u << half) - 1;
  do {
    std::uint32_t left = k >> half, right = k & mask;
    for (std::uint32_t round = 0; round < 4; ++round) {
      const std::uint32_t next = left ^ (mixed(right + chain.seed * (round + 1)) & mask);
      left = right;
      right = next;
    }
    k = left << half | right;
  } while (k >= chain.count);
  return k;
}

__host__ __device__ constexpr std::uint64_t address_of(const Chain& chain, std::uint32_t element) {
  const std::uint32_t slot =
      chain.jitter_slots > 1 ? mixed(element + chain.seed) % chain.jitter_slots : 0;
  return chain.base + element * chain.stride + std::uint64_t{slot} * chain.jitter_bytes;
}

__host__ __device__ constexpr std::uint64_t address_at(const Chain& chain, std::uint64_t position) {
  return address_of(chain, element_at(chain, static_cast<std::uint32_t>(position % chain.count)));
}

/// Where a chase begins; 0 in a chain of no elements.
__host__ __device__ constexpr std::uint64_t start_of(const Chain& chain) {
  return chain.count > 0 ? address_at(chain, 0) : 0;
}

/// What a chase of `loads` loads from position `first` of the cycle must report.
struct ChaseEnd {
  std::uint64_t address = 0;
  std::uint32_t sum = 0;  ///< of the low words of the addresses loaded from
};

inline ChaseEnd follow(const Chain& chain, std::uint64_t first, int loads) {
  ChaseEnd end{address_at(chain, first)};
  for (int i = 1; i <= loads; ++i) {
    end.sum += static_cast<std::uint32_t>(end.address);
    end.address = address_at(chain, first + i);
  }
  return end;
}

/// `bytes` of words with the chain, whose base is 0, in its place. Its addresses are byte offsets,
/// as in constant banks, or, with a `unit` of 1, indices of words, as in textures.
inline std::vector<std::uint32_t> index_image(const Chain& chain, std::size_t bytes,
                                              std::uint64_t unit = 4) {
  std::vector<std::uint32_t> words(bytes / 4, 0x5A5A5A5Au);
  for (std::uint32_t k = 0; k < chain.count; ++k) {
    words[address_at(chain, k) / unit] =
        static_cast<std::uint32_t>(address_at(chain, std::uint64_t{k} + 1));
  }
  return words;
}

}  // namespace fathom::memory_latency
