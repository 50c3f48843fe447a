#include "gemm/best/plan.h"

namespace fathom::gemm {
namespace {

constexpr std::int64_t tile_rows = 128, small_columns = 128, wide_columns = 256, wide_cluster = 2;
constexpr std::int64_t blocks_of_a_small_tile = 2;
/// Bytes along k of a stage: lines of 128 bytes.
constexpr std::int64_t stage_bytes = 128;
/// Clocks of a stage, whatever the type: the tensor cores of an SM take 64 bytes of k of 128 x 128
/// elements in 256 (models/instruction_throughput.h).
constexpr double clocks_of_a_wide_stage = 1024, clocks_of_a_small_stage = 512;
/// Clocks to fill the ring and to store a tile, and more where blocks add their sums: as for fp32
/// by three products (gemm/best/tf32_planes.cu).
constexpr double around_a_wide_tile = 3000, around_a_small_tile = 8000;

double clocks(std::int64_t blocks, int sms, std::int64_t stages, double of_a_stage, double around) {
  return static_cast<double>(ceil_div(blocks, sms)) *
         (static_cast<double>(stages) * of_a_stage + around);
}

}  // namespace

Rung hopper_contender(Class of, const char* name, RungPlan (*plan)(const Problem&, int sms)) {
  Rung rung;
  rung.name = name;
  rung.of = of;
  rung.capability = 90;
  rung.exact_capability = true;
  rung.contender = true;
  rung.plan = [plan](const Problem& p, int sms) {
    const bool multiplies = p.m != 0 && p.n != 0 && p.k != 0 && p.alpha != 0;
    return multiplies ? plan(p, sms) : fallback_plan(p);
  };
  return rung;
}

bool halves_of_small_tiles_are_sooner(const Problem& p, int sms) {
  // Row-major: C's rows are the problem's columns.
  const std::int64_t rows = p.n, columns = p.m;
  const std::int64_t stages = ceil_div(p.k * element_bytes(traits(p.of).input), stage_bytes);
  const std::int64_t wide_blocks =
      ceil_div(rows, tile_rows * wide_cluster) * wide_cluster * ceil_div(columns, wide_columns);
  const std::int64_t small_blocks =
      ceil_div(rows, tile_rows) * ceil_div(columns, small_columns) * blocks_of_a_small_tile;
  return clocks(small_blocks, sms, ceil_div(stages, blocks_of_a_small_tile),
                clocks_of_a_small_stage, around_a_small_tile) <
         clocks(wide_blocks, sms, stages, clocks_of_a_wide_stage, around_a_wide_tile);
}

}  // namespace fathom::gemm
