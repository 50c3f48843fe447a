#pragma once

namespace fathom::gemm {

/// Element j of every thread beside element j of its neighbour: lanes that read their j-th elements at
/// the same time read neighbours, whatever a thread's share is.
struct ByThreadLayout {
  template <int Outer, int PerThread>
  static __device__ constexpr int slot(int k, int outer) {
    return k * Outer + outer % PerThread * (Outer / PerThread) + outer / PerThread;
  }
  template <int Outer, int Depth>
  static constexpr int size = Outer * Depth;
};

}  // namespace fathom::gemm
