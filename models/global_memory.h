#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

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

/// global_cost(access).sectors, for other people's tests.
int sectors(const WarpAccess& access);

/// A line that an access touches.
struct GlobalLine {
  std::uint64_t address = 0;                                     ///< of its first byte
  std::array<std::uint32_t, line_bytes / sector_bytes> lanes{};  ///< by sector; 0: not touched
};

struct GlobalExplanation {
  GlobalCost cost;
  std::vector<GlobalLine> lines;  ///< by address, cost.lines of them
  std::string sentence;           ///< how much of what moves is wanted
};

GlobalExplanation explain_global(const WarpAccess& access);

/// Lines of text, one a line of memory: which lanes touch which of its sectors.
std::string picture(const GlobalExplanation& why);

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

  friend StreamCost operator+(const StreamCost& a, const StreamCost& b) {
    return {a.sectors + b.sectors, a.requests + b.requests, a.bytes + b.bytes};
  }
  StreamCost& operator+=(const StreamCost& other) { return *this = *this + other; }
  friend StreamCost operator*(std::uint64_t n, const StreamCost& cost) {
    return {.sectors = n * cost.sectors, .requests = n * cost.requests, .bytes = n * cost.bytes};
  }
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

/// Arrays of structures: thread k takes one member of structure k.
struct StructPattern {
  std::uint64_t elements = 0;       ///< structures, one a thread
  std::uint64_t struct_bytes = 16;  ///< sizeof
  std::uint64_t member_offset = 0;  ///< offsetof
  std::uint64_t member_bytes = 4;   ///< e.g. 12 for a float3; all of the structure: struct_bytes
  /// What one instruction moves, see `member_instruction_bytes`; 0: as wide as that.
  int bytes_per_instruction = 0;
  std::uint64_t base_offset = 0;  ///< address of the array, modulo the sector at least
  int threads_per_block = 256;
};

/// The widest instruction, up to 16 bytes, that takes the member in whole ones and is aligned in
/// every structure: 4 bytes for a float3, 16 for a float4 that the structure keeps aligned.
int member_instruction_bytes(const StructPattern& pattern);

/// Throws std::invalid_argument as `stream_cost`, and for a member that is not in the structure or
/// not a whole number of instructions.
StreamCost struct_cost(const StructPattern& pattern);

/// A row-major matrix transposed out of place, tile by tile: a block loads `tile` x `tile`
/// elements, threads (whole warps of them) along a row of the source, and stores them
///  - through_shared: along a row of the result, having turned the tile over in shared memory,
///  - else each thread where its own element belongs, i.e. down a column of the result.
struct TransposePattern {
  std::uint64_t rows = 0, columns = 0;  ///< of the source; the last tiles may be parts
  int element_bytes = 4;                ///< 1, 2, 4, 8 or 16
  int tile = 32;                        ///< 1 to 128
  bool through_shared = true;
  std::uint64_t load_base = 0, store_base = 0;  ///< addresses, modulo the sector at least
};

struct TransposeCost {
  StreamCost loads, stores;
};

/// Exact totals in time that does not depend on the size of the matrix. Warps without an active
/// lane are taken to branch around the access. Throws std::invalid_argument.
TransposeCost transpose_cost(const TransposePattern& pattern);

/// A contiguous copy, read or fill of `bytes` bytes with `bytes_per_access` (1 to 32) bytes a
/// thread, its tail taken one element of `element_bytes` per thread by one further warp. Bytes
/// beyond the last whole element are not touched.
StreamCost contiguous_cost(std::uint64_t bytes, int bytes_per_access, int element_bytes,
                           std::uint64_t base_offset = 0, int threads_per_block = 1024);

}  // namespace fathom::models
