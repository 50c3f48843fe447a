#pragma once

namespace fathom::gemm {

/// Every thread's first four elements beside its neighbour's first four, then all second fours, and
/// so on: lanes that read 16 bytes each read neighbours, whatever a thread's share is.
struct GroupedLayout {
  template <int Outer, int PerThread>
  static __device__ constexpr int slot(int k, int outer) {
    // Unsigned: the compiler then knows that a thread's next four follow, and reads them at once.
    const unsigned at = outer, thread = at / PerThread, group = at % PerThread / 4;
    return k * Outer + static_cast<int>((group * (Outer / PerThread) + thread) * 4 + at % 4);
  }
  template <int Outer, int Depth>
  static constexpr int size = Outer * Depth;
};

}  // namespace fathom::gemm
