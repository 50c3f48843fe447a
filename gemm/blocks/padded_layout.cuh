#pragma once

namespace fathom::gemm {

/// Four words between the lines: a warp that stores 8 of k by 4 neighbours, as a transposing load does,
/// starts its eight lines in eight different groups of four banks. Lines still start on 16 bytes.
struct PaddedLayout {
  static constexpr int padding = 4;
  template <int Outer, int PerThread>
  static __device__ constexpr int slot(int k, int outer) {
    return k * (Outer + padding) + outer;
  }
  template <int Outer, int Depth>
  static constexpr int size = (Outer + padding) * Depth;
};

}  // namespace fathom::gemm
