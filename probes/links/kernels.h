#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace fathom::links {

// What is sent: word i of source s is a hash of both, so that every bit is as good as random, a
// piece that came from elsewhere shows, and so does a sum over sources (modulo 2^32, whatever its
// order).

/// Writes `words` words of source `source` to memory of the current device.
void launch_fill(std::uint32_t* out, std::size_t words, std::uint32_t source, cudaStream_t stream);

/// Copies `bytes`, a multiple of 16, between memory that the current device reaches, by at most
/// `blocks` blocks of `copy_threads`: so few that two such copies run side by side where each gets
/// half. Loads are ld.global.cv, which no cache may answer with the host's words of the launch
/// before.
inline constexpr int copy_threads = 256;
void launch_copy(const std::byte* from, std::byte* to, std::size_t bytes, int blocks,
                 cudaStream_t stream);

/// A ring of `chase_lines` lines in memory of the current device: the first word of each is the
/// number of the next, in the order of their addresses. 2 MiB, one page of the GPU's memory.
inline constexpr int chase_line_bytes = 128, chase_lines = (2 << 20) / chase_line_bytes;
void launch_chain(std::uint32_t* lines, cudaStream_t stream);

/// `loads` loads one after the other along such a ring, from line `first` on, by one thread of
/// block `working` of `blocks`, the others of which end at once: with a block for each SM it is on
/// another SM for each `working`. Writes the number of the line that it came to, in memory of the
/// current device.
void launch_chase(const std::uint32_t* lines, int first, int loads, int blocks, int working,
                  std::uint32_t* end, cudaStream_t stream);

/// What must have arrived: word i is the sum of word `first_word` + i of sources `first_source` to
/// `first_source` + `sources` - 1.
struct Arrival {
  std::uint32_t first_source = 0;
  std::uint32_t sources = 1;
  std::size_t first_word = 0;
};

/// Adds the number of words of `data` that are not so to *wrong; all memory of the current device.
void launch_check(const std::uint32_t* data, std::size_t words, const Arrival& arrival,
                  unsigned long long* wrong, cudaStream_t stream);

}  // namespace fathom::links
