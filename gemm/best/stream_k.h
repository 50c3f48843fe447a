#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// How the blocks of a persistent kernel share the work of a product: whole tiles, and some tiles'
// k cut wherever a block's share ends (Osama et al., Stream-K: Work-centric Parallel Decomposition
// for Dense Matrix-Matrix Multiplication on the GPU, PPoPP 2023).

namespace fathom::gemm {

/// Where a share may end: between two stages of a tile, or between two bodies of the loop within
/// one, of which shares are more equal; there the blocks that end in a tile add it up together.
enum class Cut { stages, bodies };

/// Part of a product's work: steps [first, end) of one tile's k.
struct WorkPiece {
  int tile, first, end;
};

/// The division of a product's tiles: of the first `shared` all blocks take equal shares of steps
/// of k (stages, or bodies of the loop), of the others each takes a whole one after the other.
struct StreamKShares {
  int tiles, depth;  ///< depth: steps of a tile
  int shared;

  /// The steps before block `block`'s share.
  __host__ __device__ std::int64_t begin(int block, int blocks) const {
    return static_cast<std::int64_t>(shared) * depth * block / blocks;
  }

  /// Calls `use` with each block behind `block` that has a part of the tile, in order.
  template <class Use>
  __device__ void each_behind(int block, int tile, int blocks, const Use& use) const {
    const std::int64_t tile_end = (static_cast<std::int64_t>(tile) + 1) * depth;
    while (begin(++block, blocks) < tile_end) {
      if (begin(block, blocks) != begin(block + 1, blocks)) use(block);
    }
  }
};

/// Stream-K: shares that keep so many blocks equally busy. Each takes at most two tiles' worth of
/// what is shared, where there are that many, and then whole ones: long after a block left a part
/// of a tile for another to add, that one asks for it.
inline StreamKShares stream_k_shares(int tiles, int depth, int blocks) {
  if (tiles % blocks == 0) return {tiles, depth, 0};
  const int whole = tiles / blocks > 1 ? (tiles / blocks - 1) * blocks : 0;
  return {tiles, depth, tiles - whole};
}

/// A block's pieces, one after the other: its part of what is shared first.
class StreamKScheduler {
 public:
  __host__ __device__ StreamKScheduler(const StreamKShares& shares, int block, int blocks)
      : shares_(shares),
        blocks_(blocks),
        next_(shares.begin(block, blocks)),
        end_(shares.begin(block + 1, blocks)),
        tile_(shares.shared + block) {}

  __host__ __device__ bool done() const { return next_ >= end_ && tile_ >= shares_.tiles; }

  __host__ __device__ WorkPiece take() {
    if (next_ < end_) {
      const auto tile = static_cast<int>(next_ / shares_.depth);
      const auto first = static_cast<int>(next_ - static_cast<std::int64_t>(tile) * shares_.depth);
      const std::int64_t left = end_ - next_;
      const int end = left < shares_.depth - first ? first + static_cast<int>(left) : shares_.depth;
      next_ += end - first;
      return {tile, first, end};
    }
    const int tile = tile_;
    tile_ += blocks_;
    return {tile, 0, shares_.depth};
  }

 private:
  const StreamKShares& shares_;
  int blocks_;
  std::int64_t next_, end_;
  int tile_;
};

/// The stages of a block's pieces, one after the other, each of so many steps; a piece's last stage
/// may be shorter. `Corner` gives the place of a tile in C.
template <class Corner, class Place, int Steps = 1>
class StageScheduler {
 public:
  __host__ __device__ StageScheduler(StreamKScheduler& pieces, const Corner& corner)
      : pieces_(pieces), corner_(corner) {}

  /// Goes to the next stage, at first to the first; false: there is none.
  __host__ __device__ bool next() {
    if ((step += Steps) < end_) return true;
    if (pieces_.done()) return false;
    const WorkPiece piece = pieces_.take();
    at = corner_(piece.tile);
    step = piece.first;
    end_ = piece.end;
    return true;
  }

  Place at{};    ///< of the tile
  int step = 0;  ///< of the tile's, the stage's first

 private:
  StreamKScheduler& pieces_;
  const Corner& corner_;
  int end_ = 0;
};

/// The blocks that have parts of a tile. Those up to `last_ending` end there, and have nothing else
/// to do than to add; at most the last of all goes on to the next tile.
struct TileSharers {
  int first, last, last_ending;
};

/// Where every tile is shared and every block has a share.
__host__ __device__ inline TileSharers sharers_of(const StreamKShares& shares, int tile,
                                                  int blocks) {
  const std::int64_t steps = static_cast<std::int64_t>(shares.shared) * shares.depth;
  const std::int64_t begin = static_cast<std::int64_t>(tile) * shares.depth,
                     end = begin + shares.depth;
  // The last block that begins at or before a step.
  const auto block_of = [&](std::int64_t step) {
    return static_cast<int>(((step + 1) * blocks - 1) / steps);
  };
  const int last = block_of(end - 1);
  return {block_of(begin), last, shares.begin(last + 1, blocks) == end ? last : last - 1};
}

}  // namespace fathom::gemm
