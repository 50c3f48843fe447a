#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

// Orders in which a matrix can be read once, and means to do it: what a product that the memory bus
// bounds can hope for, without the product.

namespace fathom::gemm {

enum class StreamMeans {
  loads,  ///< 16-byte loads, all threads of the GPU side by side
  boxes,  ///< of 128 bytes of each of `rows`, with the 128-byte swizzle, by a tensor map
  runs,   ///< of `run_bytes` of each of `rows`, by bulk copies
  empty   ///< nothing is read: the time of a launch
};

/// How it is read. What the copy engine reads in one stage is a rectangle of `rows` by `run_bytes`.
/// Stages go along `slab_bytes` of a row, then to the next rows, then to the next slab. The blocks
/// have equal, contiguous shares of this order.
struct StreamPattern {
  std::string name{};
  StreamMeans means = StreamMeans::runs;
  int rows = 16, run_bytes = 1024;
  int slab_bytes = 0;   ///< 0: a row
  int gap_bytes = 0;    ///< between the runs of a stage, in shared memory
  int in_flight = 128;  ///< KiB of shared memory that an SM has for its rings
  int per_sm = 1;       ///< blocks of an SM, each with its part of `in_flight`
  int blocks = 0;       ///< 0: as many as the SMs hold
  bool evict_first = false;
  bool early = false;  ///< a launch may start when the one before it has asked for its last stage
  bool prefetches = false;  ///< and then has the L2 read its first stages, of runs
};

/// A matrix in device memory whose rows lie one after the other: its word i, of 32 bits, is
/// `stream_word` of i.
struct StreamMatrix {
  const void* data = nullptr;
  int rows = 0, row_bytes = 0;
  std::size_t bytes() const { return static_cast<std::size_t>(rows) * row_bytes; }
};

__host__ __device__ constexpr std::uint32_t stream_word(std::uint32_t i) { return i * 2654435761u; }

void fill_stream_matrix(void* data, std::size_t bytes, cudaStream_t stream);

/// Whether whole stages and slabs make the matrix, in a ring of two stages at least.
bool fits(const StreamPattern& pattern, const StreamMatrix& matrix);

/// Reads the matrix and adds all its words to `*sum`, on the device. For a pattern that fits.
void launch_stream(const StreamPattern& pattern, const StreamMatrix& matrix, std::uint32_t* sum,
                   int sms, cudaStream_t stream);

}  // namespace fathom::gemm
