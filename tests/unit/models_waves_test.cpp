#include "models/waves.h"
#include "tests/testing.h"

namespace fathom::models {
namespace {

TEST_CASE("T1: one and a half waves cost as much as two", "[models]") {
  Grid grid{.blocks = 396, .blocks_per_sm = 2, .sms = 132};
  const Waves w = waves(grid);
  CHECK(w.waves == 1.5);
  CHECK(w.full == 1);
  CHECK(w.tail_blocks == 132);
  CHECK(w.steps == 2);
  CHECK(w.efficiency == 0.75);
  CHECK(w.blocks_of_busiest_sm == 3);
  CHECK(expected_seconds(grid, 1e-3, BlockCost::latency) == 2e-3);
  // Where blocks share throughput, the tail's blocks run twice as fast.
  CHECK(expected_seconds(grid, 1e-3, BlockCost::throughput) == 1.5e-3);
  grid.blocks = 528;
  CHECK(waves(grid).efficiency == 1.0);
  CHECK(waves(grid).tail_blocks == 0);
  CHECK(expected_seconds(grid, 1e-3, BlockCost::latency, 5e-6) == Approx(2.005e-3));
  for (const Grid& bad : {Grid{.blocks = 0}, {.blocks_per_sm = 0}, {.sms = 0}})
    CHECK_THROWS_AS(waves(bad), std::invalid_argument);
  CHECK_THROWS_AS(expected_seconds({}, -1, BlockCost::latency), std::invalid_argument);
}

}  // namespace
}  // namespace fathom::models
