// How blocks share the work of the contenders, and what moves through their shared memory, where to
// and at what cost: of the copy that feeds the fp32 kernel with operands along k, and of a streamed
// product.

#include "gemm/best/stream_k.h"
#include "gemm/blocks/box_transposition.cuh"
#include "gemm/blocks/streamed_rows.cuh"
#include "models/shared_memory.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;
using models::Access;

namespace {

/// Wavefronts of a warp's access of 16 bytes a lane at these offsets.
int wavefronts(Access op, auto offset) {
  models::WarpAccess access;
  access.op = op;
  access.bytes_per_lane = 16;
  for (int lane = 0; lane < models::warp_size; ++lane) access.address[lane] = offset(lane);
  return models::wavefronts(access);
}

}  // namespace

TEST_CASE("a box is transposed without a bank conflict", "[gemm]") {
  for (const int rows : {128, 256}) {
    const auto store_at = [&](int row, int pitch) {
      return wavefronts(Access::store,
                        [&](int lane) { return transposed_offset(lane, row, pitch); });
    };
    for (int row = 0; row < rows; row += rows_transposed_at_once) {
      CAPTURE(rows, row);
      CHECK(wavefronts(Access::load, [&](int lane) { return box_row_offset(lane, row); }) == 4);
      CHECK(store_at(row, rows + transposed_line_pad) == 4);
    }
    // Without the padding each store would take eight times as long.
    CHECK(store_at(0, rows) == 32);
  }
}

TEST_CASE(
    "a stage of a streamed product is read in twice the wavefronts of its bytes, its sums in as "
    "many",
    "[gemm]") {
  using namespace streamed;
  for (int chunk = 0; chunk < 2; ++chunk) {
    // 512 bytes, of which pairs of rows have the same banks: what copies on 128 bytes cost.
    CHECK(wavefronts(Access::load,
                     [&](int lane) { return lane / 4 * run_bytes + chunk_of(lane, chunk); }) == 8);
  }
  // A lane's four sums in fp32 are 16 bytes of a row of 16.
  CHECK(wavefronts(Access::load, [](int lane) { return lane / 4 * columns * 4 + lane % 4 * 16; }) ==
        4);
}

TEST_CASE("clusters of a streamed product have equal shares of its rows", "[gemm]") {
  using streamed::first_row;
  for (const int rows : {1, 15, 132, 8192, 9001}) {
    for (const int clusters : {1, 2, 33, 66}) {
      if (clusters > rows) continue;
      CAPTURE(rows, clusters);
      REQUIRE(first_row(rows, 0, clusters) == 0);
      REQUIRE(first_row(rows, clusters, clusters) == rows);
      for (int c = 0; c < clusters; ++c) {
        const int own = first_row(rows, c + 1, clusters) - first_row(rows, c, clusters);
        REQUIRE((own == rows / clusters || own == rows / clusters + 1));
      }
    }
  }
}

namespace {

struct Division {
  std::vector<std::vector<int>> takers;  ///< of each tile, for each of its stages, the block
  std::vector<long long> stages;         ///< of each block
};

/// Walks every block's pieces; a stage that is taken twice, or by nobody, fails.
Division divide(const StreamKShares& shares, int blocks) {
  Division d{std::vector(shares.tiles, std::vector<int>(shares.depth, -1)),
             std::vector<long long>(blocks)};
  for (int block = 0; block < blocks; ++block) {
    for (StreamKScheduler scheduler(shares, block, blocks); !scheduler.done();) {
      const WorkPiece piece = scheduler.take();
      REQUIRE(piece.tile < shares.tiles);
      REQUIRE((0 <= piece.first && piece.first < piece.end && piece.end <= shares.depth));
      for (int i = piece.first; i < piece.end; ++i) {
        REQUIRE(d.takers[piece.tile][i] == -1);
        d.takers[piece.tile][i] = block;
      }
      d.stages[block] += piece.end - piece.first;
    }
  }
  for (const auto& tile : d.takers) REQUIRE(std::ranges::find(tile, -1) == tile.end());
  return d;
}

}  // namespace

TEST_CASE("blocks share a product's stages equally, each taken once", "[gemm]") {
  for (const int blocks : {1, 2, 3, 7, 132}) {
    for (const int tiles : {1, 2, 5, 7, 131, 132, 133, 264, 265, 512}) {
      for (const int depth : {1, 2, 13, 64}) {
        CAPTURE(blocks, tiles, depth);
        const StreamKShares shares = stream_k_shares(tiles, depth, blocks);
        const Division d = divide(shares, blocks);
        const auto [least, most] = std::ranges::minmax(d.stages);
        CHECK(most - least <= 1);
        // What a block leaves for another to add is its first piece, so one at most, and it begins
        // within a tile; whoever has the tile's first stage finds the others right behind itself.
        for (const auto& tile : d.takers) {
          for (int i = 1; i < depth; ++i) CHECK((tile[i] == tile[i - 1] || tile[i] > tile[i - 1]));
        }
      }
    }
  }
}

TEST_CASE("where shares are cut within stages, a piece begins a stage of its own", "[gemm]") {
  const StreamKShares shares = stream_k_shares(2, 13, 3);
  const auto corner = [](int tile) { return 100 * tile; };
  std::vector<std::pair<int, int>> stages;
  for (int block = 0; block < 3; ++block) {
    StreamKScheduler scheduler(shares, block, 3);
    for (StageScheduler<decltype(corner), int, 4> next(scheduler, corner); next.next();)
      stages.emplace_back(next.at, next.step);
  }
  // Shares of 8, 9 and 9 steps: [0, 8) of the first tile; [8, 13) and [0, 4); [4, 13).
  CHECK(stages == std::vector<std::pair<int, int>>{
                      {0, 0}, {0, 4}, {0, 8}, {0, 12}, {100, 0}, {100, 4}, {100, 8}, {100, 12}});
}

TEST_CASE("blocks that share a tile know each other", "[gemm]") {
  for (const int blocks : {2, 3, 7, 132}) {
    for (const int tiles : {1, 2, 5, 32, 131}) {
      for (const int depth : {2, 13, 1024, 100'000'000}) {
        if (tiles >= blocks || static_cast<long long>(tiles) * depth < blocks) continue;
        CAPTURE(blocks, tiles, depth);
        const StreamKShares shares = stream_k_shares(tiles, depth, blocks);
        REQUIRE(shares.shared == tiles);
        // As the pieces of their walks tell: who has a part of the tile, and who ends in it.
        std::vector<std::vector<int>> having(tiles), ending(tiles);
        for (int block = 0; block < blocks; ++block) {
          for (StreamKScheduler scheduler(shares, block, blocks); !scheduler.done();) {
            const int tile = scheduler.take().tile;
            having[tile].push_back(block);
            if (scheduler.done()) ending[tile].push_back(block);
          }
        }
        for (int tile = 0; tile < tiles; ++tile) {
          CAPTURE(tile);
          const TileSharers sharers = sharers_of(shares, tile, blocks);
          CHECK(sharers.first == having[tile].front());
          CHECK(sharers.last == having[tile].back());
          REQUIRE_FALSE(ending[tile].empty());
          CHECK(sharers.first == ending[tile].front());
          CHECK(sharers.last_ending == ending[tile].back());
        }
      }
    }
  }
}

TEST_CASE("whole waves are not shared, and a block of a tile each neither", "[gemm]") {
  CHECK(stream_k_shares(264, 100, 132).shared == 0);
  CHECK(stream_k_shares(512, 100, 132).shared == 512 - 2 * 132);
  CHECK(stream_k_shares(133, 100, 132).shared == 133);
  CHECK(stream_k_shares(32, 100, 132).shared == 32);
  divide({9, 4, 0}, 9);
}
