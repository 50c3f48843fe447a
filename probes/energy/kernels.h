#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace fathom::energy {

/// Where the bytes of a walk come from: shared memory, or by loads that the L1 may keep
/// (ld.global), or by loads that pass it by (ld.global.cg).
enum class Level { shared, l1, l2 };

// Each block of a walk reads chunk after chunk, by 16 bytes a load and `loads_per_turn` loads a
// thread, and sums their words, which costs two additions of three terms for each load.
inline constexpr int walk_threads = 256, loads_per_turn = 4;
inline constexpr std::size_t chunk_bytes = std::size_t{16} * walk_threads * loads_per_turn;
/// In shared memory: two, so that a turn's addresses are not those of the turn before.
inline constexpr std::uint32_t shared_chunks = 2;

struct Walk {
  const std::byte* data = nullptr;  ///< [chunks] of chunk_bytes, aligned to 16 bytes
  std::uint32_t chunks = 1;         ///< a power of two; at Level::shared it is `shared_chunks`
  int turns = 1;                    ///< chunks that a block reads
  std::uint32_t* sums = nullptr;    ///< [blocks]: of all words that the block read, modulo 2^32
};
void launch_walk(Level level, const Walk& walk, int blocks, cudaStream_t stream);

/// Blocks of a walk that are resident on an SM at once.
int walk_blocks_per_sm(Level level);

/// A block starts at chunk block x `chunk_spread` modulo chunks: not all ask for the same line.
inline constexpr std::uint32_t chunk_spread = 37;

/// Resident threads that do nothing but sleep: `turns` times about `sleep_ns`, which hardware may
/// halve or double. Each writes `turns` to its place in `out`.
inline constexpr int rest_threads = 128;
inline constexpr unsigned sleep_ns = 20'000;
__global__ void rest(int turns, std::uint32_t* out);

}  // namespace fathom::energy
