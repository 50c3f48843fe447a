#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "probes/device/launch.h"
#include "probes/memory_latency/chain.h"

namespace fathom::memory_bandwidth {

inline constexpr int warp_lanes = 32;

/// The way of every warp through memory. A warp touches one tile after the other; all distances are
/// multiples of `tile` bytes. Warp w of block b begins at
///   base + b block_region + (b block_offset + w warp_offset) mod span
/// and goes on by `step`, back by `span` when it has reached the end of its span, for `tiles`
/// tiles. `step` is at most `span`.
struct Walk {
  std::uint64_t tile = 0;
  std::uint64_t block_region = 0, block_offset = 0, warp_offset = 0;
  std::uint64_t step = 0, span = 0;
  int tiles = 0;  ///< of one warp, in all passes

  __host__ __device__ constexpr std::uint64_t start(std::uint64_t block, std::uint64_t warp) const {
    return block * block_region + (block * block_offset + warp * warp_offset) % span;
  }
};

enum class Sharing {
  interleaved,  ///< every byte is one warp's: tile after tile goes to warp after warp of the grid
  by_block,     ///< every block has its own part, and each of its warps touches all of it
  by_all,       ///< every block touches everything, its warps one tile after the other
};

struct WalkShape {
  Sharing sharing = Sharing::interleaved;
  int blocks = 1;
  int warps = 1;           ///< of a block
  std::uint64_t tile = 0;  ///< bytes
};

/// Smallest working set of a shape, in bytes; every working set is a multiple of it.
constexpr std::uint64_t granule(const WalkShape& shape) {
  const std::uint64_t blocks = static_cast<std::uint64_t>(shape.blocks);
  const std::uint64_t warps = static_cast<std::uint64_t>(shape.warps);
  const std::uint64_t tiles[] = {blocks * warps, blocks, warps};  // in the order of Sharing
  return tiles[static_cast<int>(shape.sharing)] * shape.tile;
}

/// How often a pass touches each byte.
constexpr std::uint64_t touches_per_pass(const WalkShape& shape) {
  const int touches[] = {1, shape.warps, shape.blocks};  // in the order of Sharing
  return static_cast<std::uint64_t>(touches[static_cast<int>(shape.sharing)]);
}

/// `passes` passes over a working set of `bytes`, a multiple of the granule. Where warps or blocks
/// share bytes they begin as far apart as they can, so that none follows in another's wake.
constexpr Walk plan_walk(const WalkShape& shape, std::uint64_t bytes, int passes) {
  const std::uint64_t blocks = static_cast<std::uint64_t>(shape.blocks);
  const std::uint64_t warps = static_cast<std::uint64_t>(shape.warps);
  const std::uint64_t row = warps * shape.tile;  // a tile for each warp of a block
  Walk walk{.tile = shape.tile,
            .block_offset = row,
            .warp_offset = shape.tile,
            .step = row,
            .span = bytes};
  if (shape.sharing == Sharing::interleaved) {
    walk.step *= blocks;
  } else if (shape.sharing == Sharing::by_all) {
    walk.block_offset *= bytes / row < blocks ? 1 : bytes / row / blocks;
  } else {
    walk.block_offset = 0;
    walk.block_region = walk.span = bytes / blocks;
    // With more warps than tiles the first warp of each tile's crowd is as good as any other.
    if (walk.span >= row) walk.warp_offset *= walk.span / row;
    walk.step = shape.tile;
  }
  walk.tiles = passes * static_cast<int>(walk.span / walk.step);
  return walk;
}

/// The place of SM `sm`, by %smid, in the order in which a sweep takes them: even ones, then odd
/// ones. The two SMs of a TPC have neighbouring numbers and TPCs are numbered round robin over the
/// GPCs (an H200, by this project's topology probe), so that this spreads few SMs over as many GPCs
/// and TPCs as there are.
__host__ __device__ constexpr std::uint32_t place_of_sm(std::uint32_t sm, std::uint32_t sms) {
  return sm % 2 == 0 ? sm / 2 : (sms + 1) / 2 + sm / 2;
}

/// What a store writes into 32-bit word `word` of its access, by the thread's number in the grid.
__host__ __device__ constexpr std::uint32_t store_value(std::uint32_t thread, std::uint32_t word) {
  // Stored bytes look random, since zeros would not do.
  return memory_latency::mixed(thread * 4 + word + 1);
}

/// What a warp does with memory. `copy` loads a tile and stores it elsewhere: as many bytes read as
/// written.
enum class Operation { load, store, copy };

/// The load instruction; stores are plain st.global.
enum class Path {
  cached,       ///< ld.global: may hit in the L1
  l2_only,      ///< ld.global.cg: cached in the L2 and below, never in the L1
  no_allocate,  ///< ld.global.L1::no_allocate: a weak load as the first, that leaves nothing in the
                ///< L1
};

/// One access pattern. Kernels exist for widths of 4, 8 and 16 bytes with `loads` 4, for loads of
/// 16 bytes with 8 and by `l2_only` with 1 and 2 as well; by `no_allocate` for 16 bytes alone.
/// Copies load by `l2_only`.
struct Access {
  Operation operation = Operation::load;
  Path path = Path::l2_only;
  int width = 16;  ///< bytes of one lane
  int loads = 4;   ///< accesses of a thread in flight before it waits for the first

  __host__ __device__ constexpr std::uint64_t tile() const {
    return static_cast<std::uint64_t>(width) * warp_lanes * static_cast<std::uint64_t>(loads);
  }
  friend constexpr bool operator==(const Access&, const Access&) = default;
};

/// What each warp reports. Clocks are those of its SM, nanoseconds the GPU's global timer.
struct WarpReport {
  std::int64_t start, end;         ///< of the timed part
  std::uint64_t ns_start, ns_end;  ///< at the same moments
  std::uint32_t sum;               ///< of all 32-bit words that it loaded, modulo 2^32
  std::uint32_t sm;                ///< %smid
};

/// `reports`: [blocks][warps of a block].
struct GlobalRun {
  Access access;
  Walk walk;
  int blocks = 1, threads = 1024;
  const std::byte* src = nullptr;  ///< of loads and copies
  std::byte* dst = nullptr;        ///< of stores and copies
  WarpReport* reports = nullptr;
};

/// Throws std::invalid_argument for an access that has no kernel.
void (*global_kernel(const Access& access))(GlobalRun);

/// One launch of a block for each SM, with more than half of an SM's shared memory, so that no SM
/// gets two. Those on the first `global.blocks` SMs by `place_of_sm` load, each the part of its
/// place, and the others wait until all have started.
struct SmRun {
  GlobalRun global;             ///< loads of four times 16 bytes by ld.global.cg
  unsigned* started = nullptr;  ///< blocks in all launches; zero before the first
};
__global__ void stream_on_sms(SmRun run);

/// Every warp touches a single tile. Block b has the tiles of part b mod `parts`, so that a grid of
/// k x `parts` blocks goes k times over the data and stores what interleaved warps of one pass
/// would. At most 512 threads a block.
struct TileRun {
  Access access;  ///< see tile_kernel
  std::uint32_t parts = 1;
  const std::byte* src = nullptr;  ///< of loads and copies
  std::byte* dst = nullptr;        ///< of stores and copies
  /// Loads: [tile_sums], to which all words loaded are added, each block to one of them.
  std::uint32_t* sums = nullptr;
};
inline constexpr int tile_sums = 4096;
/// Of 16 bytes: loads by ld.global.cg 1, 2 or 4 at once, stores and copies 1 or 2. Throws
/// std::invalid_argument for an access that has no kernel.
void (*tile_kernel(const Access& access))(TileRun);

/// Accesses in flight of the kernels of shared and distributed shared memory.
__host__ __device__ constexpr int shared_loads(Operation operation) {
  return operation == Operation::load ? 8 : operation == Operation::store ? 4 : 2;
}
inline constexpr int shared_threads = 512, shared_warps = shared_threads / warp_lanes;
/// Each block uses so many of them; a copy reads the first half and writes the second.
inline constexpr int shared_bytes_used = 32 * 1024;
/// Word i of it before the timed part.
__host__ __device__ constexpr std::uint32_t shared_word(std::uint32_t i) {
  return store_value(i, 77);
}

/// Through shared memory of the own block or, with a `cluster_size` above 1, of the next block of
/// the cluster.
struct SharedRun {
  Operation operation = Operation::load;
  int width = 16;  ///< 4, 8 or 16
  Walk walk;       ///< offsets from the start of a block's shared memory
  int blocks = 1;  ///< a multiple of the cluster
  int cluster_size = 1;
  int shared_bytes = shared_bytes_used;  ///< allocated by each block: more keeps others off its SM
  WarpReport* reports = nullptr;         ///< [blocks][warps]
  std::uint32_t* after = nullptr;  ///< [blocks][shared_bytes_used / 4]: what it holds in the end
};

/// The walk of a block's warps for an operation, `passes` times over: loads all go through all of
/// the memory, of stores and copies each warp has a part.
Walk shared_walk(Operation operation, int width, int passes);

/// Sets the kernel's attributes before each launch.
void launch_shared(const SharedRun& run, cudaStream_t stream);
/// Blocks that run at once in clusters of `cluster_size` with so much shared memory each; 0 where
/// the GPU cannot run such a cluster.
int cluster_blocks(int major, int cluster_size, int shared_bytes);

/// Fused multiply-adds on registers: each reads three operands of 4 bytes a lane and writes one.
inline constexpr int register_chains = 8;
inline constexpr int register_steps = 128;  ///< of each chain in a turn of the loop
inline constexpr int register_threads = 512;

struct RegisterRun {
  int blocks = 1;
  int iterations = 1;
  const float* operands = nullptr;  ///< [register_chains][4][32 lanes]: two factors, two terms
  WarpReport* reports = nullptr;    ///< [blocks][warps]; sum is 0
  float* after = nullptr;           ///< [blocks][threads][register_chains]
};
__global__ void read_registers(RegisterRun run);
/// Start value of a chain.
__host__ __device__ constexpr float register_start(int lane, int chain) {
  return 1.0f + 0.03125f * static_cast<float>(lane) + 0.001953125f * static_cast<float>(chain);
}

// Any grid runs these; `sum` and `wrong` are not cleared.

/// Adds up `words` 32-bit words, modulo 2^32, by other code than what is measured.
__global__ void sum_words(const std::uint32_t* data, std::uint64_t words, std::uint32_t* sum);
/// Counts the words of a working set that differ from what interleaved stores of `access` by
/// `grid_warps` warps leave there.
__global__ void count_wrong_words(const std::uint32_t* data, std::uint64_t words, Access access,
                                  std::uint32_t grid_warps, unsigned long long* wrong);
inline constexpr Blocks check_grid{1024, 256};

}  // namespace fathom::memory_bandwidth
