#pragma once

#include "gemm/fp64/operand_ring.cuh"

// What of a split operand the copy engine does not load: the second halves of its tiles, copied element
// by element by three warps, asynchronously, with zeros for what is outside.

namespace fathom::gemm::fp64 {

/// This thread's share of the odd lines of a tile of `Rows` x 16 of k to `target`.
template <Major major, int Rows>
__device__ inline void copy_odd_lines(std::uint32_t target, const LoadedOperand& x, int outer, int k) {
  constexpr int lines = box_lines<major>(Rows);
  // Along k a line is 16 elements, else 16 for every block of the tile.
  constexpr int length = major == Major::k ? stage_depth : Rows;
  const int copier = static_cast<int>(threadIdx.x) % 128 - 32;
#pragma unroll 1
  for (int i = copier; i < lines * length; i += copying_threads) {
    const int line = i / length, along = i % length;
    const int at_outer = outer + (major == Major::k ? 2 * line + 1 : along);
    const int at_k = k + (major == Major::k ? along : 2 * line + 1);
    const int in_stage = lines + line + (major == Major::k ? 0 : along / 16 * stage_depth);
    const std::uint32_t to = target + in_stage * line_bytes + ((along % 16 / 2) ^ (in_stage % 8)) * 16 + along % 2 * 8;
    const std::int64_t from = major == Major::k ? at_outer * x.stride + at_k : at_k * x.stride + at_outer;
    const bool inside = at_outer < x.outer && at_k < x.k;
    async_copy<8>(to, x.data + (inside ? from : 0), inside);
  }
}

}  // namespace fathom::gemm::fp64
