#pragma once

#include <cstdint>

#include "models/warp_access.h"

namespace fathom::models {

/// A sector is the unit that the caches move, a line the unit that they tag (CUDA C++ Best
/// Practices Guide, "Coalesced Access to Global Memory"; Nsight Compute, "Metrics Decoder").
inline constexpr std::uint64_t sector_bytes = 32;
inline constexpr std::uint64_t line_bytes = 128;

/// What one warp instruction on global memory costs.
struct GlobalCost {
  int sectors = 0;   ///< distinct 32-byte sectors that active lanes touch
  int lines = 0;     ///< distinct 128-byte lines: tag look-ups
  int requests = 0;  ///< 1 with any active lane, else 0
};

/// Loads and stores alike. Throws std::invalid_argument (see `validate`).
GlobalCost global_cost(const WarpAccess& access);

/// What one direction (load or store) of a whole kernel costs. Sums exactly what `global_cost` says
/// of every warp instruction. The counters, with `ld` or `st` in place of `xx`:
///   sectors   l1tex__t_sectors_pipe_lsu_mem_global_op_xx.sum
///   requests  l1tex__t_requests_pipe_lsu_mem_global_op_xx.sum, and the warp instructions executed,
///             smsp__inst_executed_op_global_xx.sum, provided that warps with no active lane branch
///             around the access
struct StreamCost {
  std::uint64_t sectors = 0;
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;  ///< that lanes asked for: accesses x instructions x width

  StreamCost& operator+=(const StreamCost& other);
  friend StreamCost operator+(StreamCost a, const StreamCost& b) { return a += b; }
  friend bool operator==(const StreamCost&, const StreamCost&) = default;
};

/// One direction of a streaming kernel. Thread-level accesses are numbered; blocks take
/// `threads_per_block` consecutive numbers, and so a full warp takes 32. A grid-stride loop and a
/// loop over elements a block size apart keep that numbering. Access k is
/// `instructions_per_access` instructions, the j-th `bytes_per_instruction` bytes wide at
///   base_offset + k * stride_bytes + j * bytes_per_instruction.
struct StreamPattern {
  std::uint64_t accesses = 0;
  int bytes_per_instruction = 4;    ///< 1, 2, 4, 8 or 16
  int instructions_per_access = 1;  ///< 2 with width 16: 32 bytes a thread, claim V6
  std::uint64_t stride_bytes = 0;   ///< 0: contiguous, i.e. width x instructions_per_access
  std::uint64_t base_offset = 0;    ///< address of access 0, modulo the sector at least
  int threads_per_block = 1024;  ///< unless a multiple of 32, each block ends in a part of a warp
};

/// Exact totals, ragged last block and last warp included, in time that does not depend on the
/// number of accesses. Throws std::invalid_argument for a width as in `validate`, an address that
/// is no multiple of it, or a block size outside 1 to 1024.
StreamCost stream_cost(const StreamPattern& pattern);

/// A contiguous copy, read or fill of `bytes` bytes with `bytes_per_access` (1 to 32) bytes a
/// thread, its tail taken one element of `element_bytes` per thread by one further warp. Bytes
/// beyond the last whole element are not touched.
StreamCost contiguous_cost(std::uint64_t bytes, int bytes_per_access, int element_bytes,
                           std::uint64_t base_offset = 0, int threads_per_block = 1024);

}  // namespace fathom::models
