#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace fathom::links {

// What is sent: word i of source s is a hash of both, so that every bit is as good as random, a
// piece that came from elsewhere shows, and so does a sum over sources (modulo 2^32, whatever its
// order).

/// Threads of a block of `fill` and of `check`, and the most blocks.
inline constexpr int word_threads = 256, word_blocks = 4096;

/// Writes `words` words of source `source` to `out`, by any number of threads.
__global__ void fill(std::uint32_t* out, std::size_t words, std::uint32_t source);

/// Copies so many packs between memory that the current device reaches, by any number of blocks of
/// `copy_threads`. Loads are ld.global.cv, which no cache may answer with the host's words of the
/// launch before.
inline constexpr int copy_threads = 256;
__global__ void copy_packs(const uint4* from, uint4* to, std::size_t packs);

/// Makes a ring of `chase_lines` lines, a thread each: the first word of each is the number of the
/// next, in the order of their addresses. 2 MiB, one page of the GPU's memory.
inline constexpr int chase_line_bytes = 128, chase_lines = (2 << 20) / chase_line_bytes;
__global__ void chain(std::uint32_t* lines);

/// `loads` loads one after the other along such a ring, from line `at` on, by block `working`. All
/// blocks have one thread, and the others end at once: with a block for each SM it is on another SM
/// for each `working`. Writes the number of the line that it came to.
__global__ void chase(const std::uint32_t* lines, std::uint32_t at, int loads, unsigned working,
                      std::uint32_t* end);

/// What must have arrived: word i is the sum of word `first_word` + i of sources `first_source` to
/// `first_source` + `sources` - 1.
struct Arrival {
  std::uint32_t first_source = 0;
  std::uint32_t sources = 1;
  std::size_t first_word = 0;
};

/// Adds the number of words of `data` that are not so to *wrong, by any number of threads.
__global__ void check(const std::uint32_t* data, std::size_t words, Arrival arrival,
                      unsigned long long* wrong);

}  // namespace fathom::links
