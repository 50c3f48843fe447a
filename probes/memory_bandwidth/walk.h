#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "probes/memory_latency/chain.h"

// Which bytes each warp touches, in which order: plain arithmetic that kernels follow, cases plan
// and tests simulate.

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

/// Who touches what.
enum class Sharing {
  interleaved,  ///< every byte is one warp's: tile after tile goes to warp after warp of the grid
  by_block,     ///< every block has its own part, and each of its warps touches all of it
  by_all,       ///< every block touches everything, its warps one tile after the other
};

/// A grid and what it is to touch.
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

}  // namespace fathom::memory_bandwidth
