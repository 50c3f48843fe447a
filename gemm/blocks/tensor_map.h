#pragma once

#include <cuda.h>

#include <cstdint>

#include "gemm/bench/problem.h"

// How TMA is told of a matrix. Host code.

namespace fathom::gemm {

/// Bytes of a row of a box: the widest that the 128-byte swizzle takes.
inline constexpr int box_row_bytes = 128;
/// Where a matrix and each of its columns must start for TMA.
inline constexpr int map_alignment = 16;

/// A map of `outer` columns of `inner` contiguous elements, `stride` elements apart, for boxes of
/// 128 bytes by `box_columns`, which lie in shared memory, from 1024 bytes on, with the 128-byte
/// swizzle: a box's column c is 128 bytes, and its 16-byte word w is at word w ^ (c % 8). What is
/// outside the matrix reads as zero.
///
/// With `plain_box_inner` a box has so many by `box_columns` elements, at most 256 each, one column
/// after the other, not swizzled, from 128 bytes on.
///
/// Throws Error if the driver refuses: no elements, or a base or column that is not on 16 bytes.
CUtensorMap tensor_map(const void* data, Element element, std::int64_t inner, std::int64_t outer,
                       std::int64_t stride, int box_columns, int plain_box_inner = 0);

}  // namespace fathom::gemm
