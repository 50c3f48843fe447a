#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

// The kernels of gate_victim. Each does an amount of work that is a count, so that a little more of
// it can be asked for; what it leaves behind says whether all of it was done.

namespace fathom::gate_victim {

inline constexpr int lanes = 32;

/// A block of threads on each of `blocks` SMs, of so many warps.
struct Grid {
  int blocks = 0, warps = 0;
  std::size_t threads() const { return static_cast<std::size_t>(blocks) * warps * lanes; }
};

// Chains: every thread takes `chain_unroll` times `turns` dependent steps and writes its end. All
// warps do the same. A chain's `end` is computed on the host, as exactly.
inline constexpr int chain_unroll = 4;

enum class Chain { fma, dfma, imad, shuffle };

/// Bytes of one thread's end.
std::size_t chain_bytes(Chain chain);
void launch_chain(Chain chain, const Grid& grid, int turns, void* out, cudaStream_t stream);
/// The ends of a warp's lanes, `chain_bytes` each, as words of 8 bytes (the lower ones).
std::array<std::uint64_t, lanes> chain_end(Chain chain, int turns);

/// Each thread follows rows of a table in shared memory and writes the row that it ends at. In the
/// first `conflicts` of the steps a warp's 32 lanes read from one bank, else each from its own.
void launch_shared_chase(const Grid& grid, int steps, int conflicts, int* out, cudaStream_t stream);
int shared_chase_end(int warp, int steps);

/// Matrix products of 16 x 16 x 16 on the tensor cores, half in and float out, all factors 1: every
/// element of every warp's tile ends at 16 * steps. `out` has 256 floats a warp.
inline constexpr int tile_elements = 256;
void launch_products(const Grid& grid, int steps, float* out, cudaStream_t stream);

/// Every thread raises one of `cells` integers to the step's number, of each of the `sets` in turn.
/// All of a set end at the last of its steps.
void launch_atomics(const Grid& grid, int steps, int cells, int sets, int* out,
                    cudaStream_t stream);
inline int atomics_end(int steps, int sets, int set) {
  return steps - 1 - (steps - 1 - set) % sets;
}

/// One thread follows a chain through `slots` (a power of two) lines of 128 bytes, from L2 or, if
/// `in_l1`, from the L1, and writes the slot that it ends at.
inline constexpr std::size_t slot_bytes = 128;
void launch_chase(const unsigned* chain, int steps, bool in_l1, unsigned* out, cudaStream_t stream);
void fill_chase(unsigned* chain, unsigned slots, cudaStream_t stream);
unsigned chase_end(unsigned slots, int steps);

// Tiles of 32 KiB, a block each, taken from a buffer of `in_buffer` tiles over and over. The blocks
// are many and start as others end, so that time follows their number.
inline constexpr int tile_vectors = 2048, tile_threads = 256;
inline constexpr std::size_t tile_bytes = tile_vectors * sizeof(uint4);

struct Tiles {
  int count = 0, in_buffer = 0;
  /// So many of 1000 tiles are read with the lanes of a warp 128 bytes apart.
  int apart_per_thousand = 0;
  int dynamic_shared = 0;  ///< bytes that a block takes and does not use: fewer fit on an SM
};

/// The exclusive or of each tile's words.
void launch_read(const Tiles& tiles, const uint4* from, unsigned* out, cudaStream_t stream);
void launch_copy(const Tiles& tiles, const uint4* from, uint4* to, cudaStream_t stream);
/// What `launch_read` must write, found another way, for the tiles of a buffer.
void launch_read_reference(int in_buffer, const uint4* from, unsigned* out, cudaStream_t stream);
/// Blocks that one SM holds of the kernel that reads, or copies, tiles.
int resident_tiles(bool copies);

}  // namespace fathom::gate_victim
