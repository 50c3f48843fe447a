#pragma once

#include <cstdint>

#include "gemm/blocks/async_copy.cuh"
#include "gemm/blocks/operands.cuh"

namespace fathom::gemm {

/// How an operand of a product lies in memory, seen from a tile of `outer` (m or n) by `depth` (k):
/// contiguous along `outer`, with every line of a tile on 16 bytes or not, or contiguous along k.
enum class Along { outer_vectors, outer, inner };

/// How an operand of a row-major product lies: `stride_k` and `stride_outer` apart along k and the
/// other dimension, of which there are `outer`.
inline Along along_of(std::int64_t stride_k, std::int64_t stride_outer, int outer) {
  if (stride_outer != 1) return Along::inner;
  return stride_k % 4 == 0 && outer % 4 == 0 ? Along::outer_vectors : Along::outer;
}

/// Copies tiles of an operand to shared memory, where element (k, o) lies at k * pitch + o whatever
/// it was before: a warp's fragment is contiguous there, and reading it costs no conflict. An
/// operand that is contiguous along k is transposed on the way, element by element: a warp takes 8
/// of k by 4 of `outer`, four whole sectors, and the pitch of 4 modulo 32 spreads them over all 32
/// banks.
///
/// No index along `outer` is checked: a tile at the edge starts early enough to end with the
/// matrix.
template <int Outer, int Depth, int Threads, Along along>
class TileCopy {
 public:
  static constexpr int pitch = Outer + 4;
  static constexpr int elements = Depth * pitch;

  /// The tile whose first element is `first`, `stride` elements apart along the dimension that is
  /// not contiguous.
  __device__ TileCopy(const float* first, std::int64_t stride) : stride_(stride) {
    const int t = static_cast<int>(threadIdx.x);
    if constexpr (along == Along::inner) {
      k_ = t % lanes_k;
      outer_ = t / lanes_k;
      source_ = first + outer_ * stride + k_;
    } else {
      outer_ = t % per_line * width;
      k_ = t / per_line;
      source_ = first + k_ * stride + outer_;
    }
    target_ = static_cast<std::uint32_t>((k_ * pitch + outer_) * sizeof(float));
  }

  /// Copies the next `depth` of k into the stage at `stage`; the rest of the tile becomes zero.
  /// `anywhere` is any element of the matrix: what is not to be read still needs an address.
  __device__ void copy_first(std::uint32_t stage, int depth, const float* anywhere) {
    copy<true>(stage, depth, anywhere);
    source_ += along == Along::inner ? std::int64_t{depth} : depth * stride_;
  }

  /// Copies the next whole tile.
  __device__ void copy_next(std::uint32_t stage) {
    copy<false>(stage, Depth, nullptr);
    source_ += along == Along::inner ? std::int64_t{Depth} : Depth * stride_;
  }

 private:
  static constexpr int lanes_k = 8;
  static constexpr int width = along == Along::outer_vectors ? 4 : 1;
  static constexpr int per_line = Outer / width < Threads ? Outer / width : Threads;
  // Along k: lines of a pass over k; along `outer`: those of a pass over outer.
  static constexpr int step = along == Along::inner ? Threads / lanes_k : Threads / per_line;

  template <bool check>
  __device__ void copy(std::uint32_t stage, int depth, const float* anywhere) const {
    const std::uint32_t target = stage + target_;
    if constexpr (along == Along::inner) {
#pragma unroll
      for (int o = 0; o < Outer; o += step) {
        if (Outer % step != 0 && o + outer_ >= Outer) break;
        const float* const line = source_ + o * stride_;
#pragma unroll
        for (int k = 0; k < Depth; k += lanes_k) {
          const bool valid = !check || k + k_ < depth;
          async_copy<4>(target + (k * pitch + o) * sizeof(float), valid ? line + k : anywhere,
                        valid);
        }
      }
    } else {
#pragma unroll
      for (int k = 0; k < Depth; k += step) {
        if (Depth % step != 0 && k + k_ >= Depth) break;
        const bool valid = !check || k + k_ < depth;
        const float* const line = source_ + k * stride_;
#pragma unroll
        for (int o = 0; o < Outer; o += per_line * width) {
          async_copy<4 * width>(target + (k * pitch + o) * sizeof(float),
                                valid ? line + o : anywhere, valid);
        }
      }
    }
  }

  const float* source_;  ///< of this thread's first element
  std::int64_t stride_;
  std::uint32_t target_;
  int k_, outer_;
};

}  // namespace fathom::gemm
