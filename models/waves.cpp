#include "models/waves.h"

#include "models/formatted.h"

namespace fathom::models {

Waves waves(const Grid& grid) {
  if (grid.blocks == 0 || grid.blocks_per_sm < 1 || grid.sms < 1)
    refuse("waves need at least one block, one block per SM and one SM, not %lu, %d and %d",
           grid.blocks, grid.blocks_per_sm, grid.sms);
  Waves w;
  const auto sms = static_cast<std::uint64_t>(grid.sms);
  w.wave_blocks = sms * static_cast<std::uint64_t>(grid.blocks_per_sm);
  w.full = grid.blocks / w.wave_blocks;
  w.tail_blocks = grid.blocks % w.wave_blocks;
  w.steps = w.full + (w.tail_blocks != 0 ? 1 : 0);
  w.waves = static_cast<double>(grid.blocks) / static_cast<double>(w.wave_blocks);
  w.efficiency = w.waves / static_cast<double>(w.steps);
  w.blocks_of_busiest_sm = (grid.blocks + sms - 1) / sms;
  return w;
}

double expected_seconds(const Grid& grid, double seconds_per_wave, BlockCost cost,
                        double overhead_seconds) {
  if (!(seconds_per_wave >= 0) || !(overhead_seconds >= 0))
    refuse("the seconds of a wave and of the launch cannot be negative");
  const Waves w = waves(grid);
  const double paid = cost == BlockCost::latency
                          ? static_cast<double>(w.steps)
                          : static_cast<double>(w.blocks_of_busiest_sm) / grid.blocks_per_sm;
  return overhead_seconds + paid * seconds_per_wave;
}

}  // namespace fathom::models
