#pragma once

#include "gemm/blocks/async_copy.cuh"
#include "gemm/fp64/design.cuh"

namespace fathom::gemm::fp64 {

/// Copies tiles of Outer x Depth (of k) of an operand to shared memory by chunks of 16 bytes, all
/// `Threads` together, to where the copy engine would put them (gemm/fp64/operand_ring.cuh): for
/// each 16 of k, along k a line for each of `Outer`, else 16 lines for each 16 of it. Lines in
/// memory start on 16 bytes. What of a tile is outside of the operand becomes zero and is not read.
template <int Outer, int Depth, int Threads, Major major>
class LineCopy {
  static constexpr int words = line_bytes / 16, step = Threads / words;
  static_assert(step % 16 == 0 && Outer % step == 0,
                "a thread's chunks are all at the same place of a line");
  static constexpr int slab_bytes = Outer * line_bytes;  ///< of 16 of k

 public:
  static constexpr int bytes = Depth / stage_depth * slab_bytes;

  /// Tiles from `first_outer` of `outer` on, k from `first_k` on. `stride`: elements between lines.
  __device__ LineCopy(const double* data, std::int64_t stride, int first_outer, int outer,
                      int first_k)
      : data_(data), stride_(stride), outer_left_(outer - first_outer) {
    const std::int64_t o = first_outer + outer_of(0), k = first_k + k_of(0);
    source_ = data + (major == Major::k ? o * stride + k : k * stride + o);
    target_ = line() * line_bytes + (word() ^ line() % 8) * 16;
  }

  /// Where this thread reads next.
  __device__ const void* source() const { return source_; }
  __device__ bool covers_outer() const { return outer_left_ >= Outer; }

  /// Copies the next tile, of which `k_left` of k, more than 0, are left, to this address of shared
  /// memory.
  template <bool whole>
  __device__ void copy(std::uint32_t tile, int k_left) {
#pragma unroll
    for (int slab = 0; slab < Depth / stage_depth; ++slab) {
#pragma unroll
      for (int i = 0; i < Outer / step; ++i) {
        const std::uint32_t to = tile + target_ + slab * slab_bytes + i * step * line_bytes;
        const double* const from =
            source_ + (major == Major::k ? i * step * stride_ + slab * stage_depth
                                         : slab * stage_depth * stride_ + i * step);
        if constexpr (whole) {
          async_copy<16>(to, from);
        } else {
          const int outer = outer_left_ - outer_of(i), k = k_left - slab * stage_depth - k_of(0);
          const int across = major == Major::k ? outer : k, along = major == Major::k ? k : outer;
          const int valid = across > 0 ? max(0, min(along, 2)) : 0;
          async_copy_part(to, valid > 0 ? from : data_, valid * static_cast<int>(sizeof(double)));
        }
      }
    }
    source_ += major == Major::k ? std::int64_t{Depth} : Depth * stride_;
  }

 private:
  static __device__ int line() { return static_cast<int>(threadIdx.x) / words; }
  static __device__ int word() { return static_cast<int>(threadIdx.x) % words; }
  /// Of the first element of this thread's chunk i.
  static __device__ int outer_of(int i) {
    return i * step + (major == Major::k ? line() : line() / 16 * 16 + word() * 2);
  }
  static __device__ int k_of(int slab) {
    return slab * stage_depth + (major == Major::k ? word() * 2 : line() % 16);
  }

  const double* data_;
  std::int64_t stride_;
  int outer_left_;
  const double* source_;
  std::uint32_t target_;
};

}  // namespace fathom::gemm::fp64
