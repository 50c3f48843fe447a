#pragma once

#include <cstdint>

namespace fathom::models {

/// A grid of equal blocks on a GPU. A wave is as many blocks as are resident at once:
/// `sms * blocks_per_sm`.
struct Grid {
  std::uint64_t blocks = 1;
  int blocks_per_sm = 1;  ///< resident, see `occupancy`
  int sms = 1;
};

struct Waves {
  double waves = 0;               ///< blocks / wave
  std::uint64_t wave_blocks = 0;  ///< blocks in a full wave
  std::uint64_t full = 0;         ///< full waves
  std::uint64_t tail_blocks = 0;  ///< blocks of the last, partial wave; 0: none
  std::uint64_t steps = 0;        ///< ceil(waves): what is paid for
  double efficiency = 0;          ///< waves / ceil(waves) (claim T1)
  /// Most blocks that one SM runs from start to end when blocks spread evenly: ceil(blocks / sms).
  std::uint64_t blocks_of_busiest_sm = 0;
};

/// Throws std::invalid_argument where a number is not positive.
Waves waves(const Grid& grid);

/// What limits a block while it shares its SM.
enum class BlockCost {
  /// A block takes the same time alone as among others (latency, waiting, a spin loop): time grows
  /// by a whole wave at each multiple of the wave.
  latency,
  /// Blocks of an SM share a throughput that they exhaust (FMA, shared memory): an SM with fewer
  /// blocks runs each of them faster, time follows its blocks, and the steps are `sms` wide.
  throughput,
};

/// Seconds for the grid, of which a full wave takes `seconds_per_wave`, and `overhead_seconds` go
/// to the launch whatever its size. Throws std::invalid_argument for negative seconds.
double expected_seconds(const Grid& grid, double seconds_per_wave, BlockCost cost,
                        double overhead_seconds = 0);

/// A matrix product of m x k by k x n that computes its result in tiles of tile_m x tile_n, one
/// block each, stepping through k by tile_k. With `split_k` above 1 that many blocks share a tile,
/// each with its share of the steps.
struct TiledProduct {
  std::uint64_t m = 1, n = 1, k = 1;
  std::uint64_t tile_m = 128, tile_n = 128, tile_k = 32;
  std::uint64_t split_k = 1;
  /// Tiles of a thread block cluster along m and n: its blocks start together, and each computes a
  /// tile, beyond the result too.
  std::uint64_t cluster_m = 1, cluster_n = 1;
  int blocks_per_sm = 1;  ///< resident, see `occupancy`
  int sms = 1;
  /// `throughput` where resident blocks share units that one block alone would fill; with one
  /// block per SM both are the same.
  BlockCost cost = BlockCost::latency;
};

/// What a product's size loses to whole tiles and whole waves (claim T2): shares of the work paid
/// for that is useful. NVIDIA, "Matrix Multiplication Background User's Guide", sections on tile
/// and wave quantization.
struct TileQuantisation {
  std::uint64_t tiles_m = 0, tiles_n = 0;  ///< of whole clusters
  std::uint64_t blocks = 0;                ///< tiles_m * tiles_n * split_k
  std::uint64_t steps = 0;                 ///< of tile_k, of the block with most of them
  Waves waves;                             ///< of that grid
  double padding_efficiency = 0;           ///< m n k / what whole tiles and equal shares compute
  double wave_efficiency = 0;              ///< of the last, partial wave
  double efficiency = 0;     ///< both: useful work / work that the busy time could hold
  double relative_time = 0;  ///< `steps` times the waves paid for: in steps of one tile
};

/// Throws std::invalid_argument where a number is not positive, a product, a cluster or the grid
/// passes 2^62, or `split_k` is above the number of steps.
TileQuantisation tile_quantisation(const TiledProduct& product);

}  // namespace fathom::models
