// Grids and matrix products in waves of blocks, beyond what tests/golden/sessions/predictions.txt
// has.

#include "models/waves.h"

#include "models/tile_quantisation.h"
#include "tests/testing.h"

using namespace fathom::models;

TEST_CASE("T1: the tail takes a wave's time, or less where blocks share throughput", "[models]") {
  Grid grid{.blocks = 396, .blocks_per_sm = 2, .sms = 132};
  CHECK(expected_seconds(grid, 1e-3, BlockCost::throughput) == 1.5e-3);
  grid.blocks = 528;
  CHECK(waves(grid).efficiency == 1.0);
  CHECK(expected_seconds(grid, 1e-3, BlockCost::latency, 5e-6) == Approx(2.005e-3));
  for (const Grid& bad : {Grid{.blocks = 0}, {.blocks_per_sm = 0}, {.sms = 0}})
    CHECK_THROWS_AS(waves(bad), std::invalid_argument);
  CHECK_THROWS_AS(expected_seconds({}, -1, BlockCost::latency), std::invalid_argument);
}

TEST_CASE("Wave quantisation as NVIDIA's guide states it for an A100", "[models]") {
  // Matrix Multiplication Background User's Guide: 108 SMs, tiles of 256 x 128; a matrix of 12 x 9
  // tiles is one wave, one more column of tiles begins another.
  TiledProduct p{.m = 2304, .n = 1536, .k = 4096, .tile_m = 256, .tile_n = 128, .sms = 108};
  CHECK(tile_quantisation(p).efficiency == 1);
  p.n += 1;
  CHECK(tile_quantisation(p).waves.steps == 2);
  CHECK(tile_quantisation(p).wave_efficiency == Approx(117.0 / 216));
}

TEST_CASE("A cluster computes all of its tiles, beyond the result too", "[models]") {
  TiledProduct p{.m = 4096, .n = 4096, .k = 4096, .tile_m = 128, .tile_n = 256, .sms = 132};
  p.cluster_m = 4;
  p.cluster_n = 2;
  CHECK(tile_quantisation(p).blocks == 512);
  p.m += 16;
  const TileQuantisation q = tile_quantisation(p);
  CHECK(q.tiles_m == 36);
  CHECK(q.tiles_n == 16);
  CHECK(q.waves.steps == 5);
  CHECK(q.padding_efficiency == Approx(4112.0 / 4608));
  p.cluster_m = 1;
  CHECK(tile_quantisation(p).waves.steps == 4);  // 33 x 16 tiles fill four waves
  p.cluster_m = 0;
  CHECK_THROWS_AS(tile_quantisation(p), std::invalid_argument);
  p.cluster_m = std::uint64_t{1} << 61;
  p.m = (std::uint64_t{1} << 61) * 128 + 1;
  p.tile_m = 1;
  CHECK_THROWS_AS(tile_quantisation(p), std::invalid_argument);
}

TEST_CASE("Splitting k fills the wave that few tiles leave empty", "[models]") {
  TiledProduct p{.m = 256, .n = 256, .k = 8192, .sms = 132};
  const TileQuantisation one = tile_quantisation(p);
  CHECK(one.blocks == 4);
  CHECK(one.steps == 256);
  p.split_k = 32;
  const TileQuantisation split = tile_quantisation(p);
  CHECK(split.blocks == 128);
  CHECK(split.steps == 8);
  CHECK(split.relative_time == one.relative_time / 32);
  CHECK(split.wave_efficiency == Approx(128.0 / 132));
  // Unequal shares are paid for as padding: 5 steps among 2 blocks are 3 each.
  const TileQuantisation unequal = tile_quantisation({.m = 128, .n = 128, .k = 160, .split_k = 2});
  CHECK(unequal.steps == 3);
  CHECK(unequal.padding_efficiency == Approx(5.0 / 6));
}

TEST_CASE("Blocks that share their SM's throughput step by SMs, not by waves", "[models]") {
  TiledProduct p{.m = 128 * 5, .n = 128, .k = 32, .blocks_per_sm = 2, .sms = 4};
  CHECK(tile_quantisation(p).wave_efficiency == Approx(5.0 / 8));
  p.cost = BlockCost::throughput;
  CHECK(tile_quantisation(p).relative_time == 1);  // two blocks on the busiest SM
  p.m = 128 * 4;
  CHECK(tile_quantisation(p).relative_time == 0.5);
  CHECK(tile_quantisation(p).wave_efficiency == 1);
}

TEST_CASE("Impossible products are refused", "[models]") {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  for (const auto& [product, said] : {std::pair{TiledProduct{.m = 0}, "1 or more"},
                                      {TiledProduct{.tile_n = 0}, "1 or more"},
                                      {TiledProduct{.sms = 0}, "one SM"},
                                      {TiledProduct{.blocks_per_sm = 0}, "one block per SM"},
                                      {TiledProduct{.k = 64, .split_k = 3}, "it has 2"},
                                      {TiledProduct{.m = huge, .n = huge, .k = huge}, "too large"}})
    CHECK_THROWS_MATCHES(tile_quantisation(product), std::invalid_argument,
                         MessageMatches(contains(said)));
}
