#include "models/waves.h"

#include "models/formatted.h"

namespace fathom::models {
namespace {

constexpr std::uint64_t limit = std::uint64_t{1} << 62;

std::uint64_t ceil_divide(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

std::uint64_t product_of(std::initializer_list<std::uint64_t> factors) {
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    if (factor != 0 && product > limit / factor)
      refuse("the matrix product is too large: its work passes 2^62");
    product *= factor;
  }
  return product;
}

void validate(const TiledProduct& p) {
  for (const std::uint64_t value :
       {p.m, p.n, p.k, p.tile_m, p.tile_n, p.tile_k, p.split_k, p.cluster_m, p.cluster_n}) {
    if (value == 0 || value > limit)
      refuse("the sizes of a matrix product and of its tiles must be 1 or more, not %lu", value);
  }
  const std::uint64_t steps = ceil_divide(p.k, p.tile_k);
  if (p.split_k > steps)
    refuse("k of %lu in steps of %lu cannot be split among %lu blocks: it has %lu", p.k, p.tile_k,
           p.split_k, steps);
}

std::uint64_t whole_clusters(std::uint64_t tiles, std::uint64_t cluster) {
  return product_of({ceil_divide(tiles, cluster), cluster});
}

}  // namespace

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
  w.waves = real(grid.blocks) / real(w.wave_blocks);
  w.efficiency = w.waves / real(w.steps);
  w.blocks_of_busiest_sm = (grid.blocks + sms - 1) / sms;
  return w;
}

double expected_seconds(const Grid& grid, double seconds_per_wave, BlockCost cost,
                        double overhead_seconds) {
  if (!(seconds_per_wave >= 0) || !(overhead_seconds >= 0))
    refuse("the seconds of a wave and of the launch cannot be negative");
  const Waves w = waves(grid);
  const double paid = cost == BlockCost::latency
                          ? real(w.steps)
                          : real(w.blocks_of_busiest_sm) / grid.blocks_per_sm;
  return overhead_seconds + paid * seconds_per_wave;
}

TileQuantisation tile_quantisation(const TiledProduct& p) {
  validate(p);
  TileQuantisation q;
  q.tiles_m = whole_clusters(ceil_divide(p.m, p.tile_m), p.cluster_m);
  q.tiles_n = whole_clusters(ceil_divide(p.n, p.tile_n), p.cluster_n);
  q.steps = ceil_divide(ceil_divide(p.k, p.tile_k), p.split_k);
  q.blocks = product_of({q.tiles_m, q.tiles_n, p.split_k});
  product_of({q.blocks, p.tile_m, p.tile_n, q.steps, p.tile_k});
  const Grid grid{.blocks = q.blocks, .blocks_per_sm = p.blocks_per_sm, .sms = p.sms};
  q.waves = waves(grid);

  const double useful = real(p.m) * real(p.n) * real(p.k);
  const double block_work = real(p.tile_m) * real(p.tile_n) * real(p.tile_k) * real(q.steps);
  q.padding_efficiency = useful / (block_work * real(q.blocks));
  const double paid_waves = expected_seconds(grid, 1, p.cost);
  q.wave_efficiency = q.waves.waves / paid_waves;
  q.efficiency = q.padding_efficiency * q.wave_efficiency;
  q.relative_time = paid_waves * real(q.steps);
  return q;
}

}  // namespace fathom::models
