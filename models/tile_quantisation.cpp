#include "models/tile_quantisation.h"

#include <algorithm>

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

  const double useful =
      static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const double block_work = static_cast<double>(p.tile_m) * static_cast<double>(p.tile_n) *
                            static_cast<double>(p.tile_k) * static_cast<double>(q.steps);
  q.padding_efficiency = useful / (block_work * static_cast<double>(q.blocks));
  const double paid_waves = expected_seconds(grid, 1, p.cost);
  q.wave_efficiency = q.waves.waves / paid_waves;
  q.efficiency = q.padding_efficiency * q.wave_efficiency;
  q.relative_time = paid_waves * static_cast<double>(q.steps);
  return q;
}

std::vector<std::uint64_t> around_tile_multiples(std::uint64_t m, std::uint64_t tile_m, int count) {
  if (tile_m == 0 || m == 0 || count < 1 || m > limit || tile_m > limit)
    refuse("a sweep needs a positive m, tile and number of multiples");
  const std::uint64_t at = m / tile_m;
  const std::uint64_t first = at - std::min<std::uint64_t>(at, static_cast<unsigned>(count) / 2);
  std::vector<std::uint64_t> values;
  for (std::uint64_t i = 0; i < static_cast<unsigned>(count); ++i) {
    const std::uint64_t multiple = product_of({std::max<std::uint64_t>(first, 1) + i, tile_m});
    for (const std::uint64_t value : {multiple - 1, multiple, multiple + 1})
      if (value > 0 && (values.empty() || value > values.back())) values.push_back(value);
  }
  return values;
}

}  // namespace fathom::models
