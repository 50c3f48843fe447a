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

}  // namespace fathom::models
