#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"

namespace fathom {

/// What a buffer is filled with when it is made. Never zeros: hardware compression and data-
/// dependent power would flatter the result.
enum class Fill {
  random_bits,     ///< every bit random: for copies, where the value does not matter
  uniform_float,   ///< float in [-1, 1)
  uniform_double,  ///< double in [-1, 1)
  uniform_half,    ///< IEEE half in [-1, 1)
  uniform_bfloat16,
  // Normal with mean 0 and variance 1, as operands of matrix products have them.
  normal_float,
  normal_double,
  normal_half,
  normal_bfloat16,
  normal_e4m3,   ///< 8-bit floating point with 4 exponent and 3 mantissa bits
  normal_int8,   ///< rounded from 32 times as much, and held within -127 to 127
  normal_int32,  ///< rounded from 1000 times as much
};

/// Plain device memory between two guard bands.
struct Buffer {
  std::byte* data = nullptr;  ///< 4096 bytes behind a cudaMalloc base, so aligned as that is
  std::size_t bytes = 0;
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

/// Device memory of a probe by role ("src", "dst"), kept and reused between cases, since filling
/// gigabytes for every case would cost more than measuring. A block that became too small is kept
/// until memory runs short: on an H200, freeing tens of gigabytes makes every kernel of the next
/// 75 ms about 10 % slower. All calls are asynchronous on the pool's stream except `guards_intact`.
/// Throws Error(gpu_out_of_memory).
class BufferPool {
 public:
  static constexpr std::size_t small_bytes = std::size_t{64} << 20;

  BufferPool(int device_ordinal, cudaStream_t stream, std::uint64_t seed);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// An input, filled once with random data that depends on seed and role. Kernels must not write
  /// it. A larger request for the same role reallocates; a smaller one gives a
  /// prefix, as long as both are on the same side of `small_bytes`.
  Buffer input(const std::string& role, std::size_t bytes, Fill fill = Fill::random_bits);
  /// An output of exactly `bytes` between guard bands (so that a write past the end of a smaller
  /// request is seen too).
  Buffer output(const std::string& role, std::size_t bytes);
  /// Buffers of up to `small_bytes` are other memory in each placement: how fast the L2 serves a
  /// small working set depends on where the driver put it, and one placement would pass off its
  /// luck as the GPU's figure. Buffers of the former placement stay as they are. Starts at 0.
  void set_placement(int placement);
  /// Bytes of the buffers asked for since `set_placement` that are small enough to have moved.
  std::size_t bytes_that_move() const;
  /// Fills an output with 0xFF bytes, which are NaN in every floating-point type.
  void poison(const Buffer& buffer);
  /// Nothing, or which guard band of which role was overwritten and where; of the buffers asked for
  /// since `set_placement`.
  std::optional<std::string> guards_intact();

 private:
  struct Block;
  Block& allocate(const std::string& role, std::size_t bytes);
  int device_;
  cudaStream_t stream_;
  std::uint64_t seed_;
  std::map<std::string, Block> blocks_;  ///< by role and, if small, placement
  std::vector<DeviceMemory<std::byte>> retired_;
  int placement_ = 0;
  std::map<std::string, std::size_t> asked_for_;  ///< bytes by key, since `set_placement`
};

/// `count` elements at `data` in device memory, once the stream has done what was queued before.
template <class T>
std::vector<T> copy_to_host(const std::byte* data, std::size_t count, cudaStream_t stream) {
  std::vector<T> host(count);
  FATHOM_CUDA(
      cudaMemcpyAsync(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  FATHOM_CUDA(cudaStreamSynchronize(stream));
  return host;
}

/// A buffer's whole content.
template <class T>
std::vector<T> copy_to_host(const Buffer& buffer, cudaStream_t stream) {
  return copy_to_host<T>(buffer.data, buffer.bytes / sizeof(T), stream);
}

/// Fills `bytes` (a multiple of 8) with random data of the kind `fill`, the same for the same seed.
void fill_random_data(std::byte* data, std::size_t bytes, Fill fill, std::uint64_t seed,
                      cudaStream_t stream);

/// Number of bytes in which two device ranges differ; synchronises.
std::uint64_t count_different_bytes(const void* a, const void* b, std::size_t bytes,
                                    cudaStream_t stream);

}  // namespace fathom
