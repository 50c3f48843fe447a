#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/cases.h"
#include "models/occupancy.h"
#include "models/warp_access.h"
#include "models/waves.h"
#include "probes/claims.h"
#include "probes/device/launch.h"
#include "probes/tail_effect/kernels.h"

namespace fathom::tail_effect {
namespace {

/// Clocks from one FMA to the next that needs its result: of a V100 (its white paper; Jia et al.,
/// "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", table 4.1) and of an H100
/// (models/published.cpp). Taken for every chip from 7.0 on.
constexpr double fma_latency_clocks = 4;
/// Time of an empty launch as the timing sees it, which a sample of many launches spreads.
constexpr double launch_seconds = 2e-6;
/// Clocks that a full wave takes: long against what the launch's own time differs by.
constexpr double wave_clocks = 200'000;
constexpr std::size_t chunk_bytes = 1 << 20;

// Two blocks per SM by shared memory. 128 threads leave the FMA pipes half empty, so a block does
// not notice its neighbour; 1024 fill them twice over.
constexpr int blocks_per_sm = 2, few_threads = 128, many_threads = 1024;

Workload prepare_chain(Context& context, int iterations, const Blocks& grid) {
  cudaStream_t stream = context.stream();
  const Buffer out = context.buffers().output("out", sizeof(float) * grid.blocks * grid.threads);
  return workload_of(
      context, {out}, [=] { launch(fma_chain, grid, stream, out.as<float>(), iterations); },
      [=]() -> std::optional<std::string> {
        float wanted[models::warp_size];  // fma on the host rounds as on the GPU
        for (int lane = 0; lane < models::warp_size; ++lane) {
          wanted[lane] = start_value(lane);
          for (int i = 0; i < iterations * steps_per_iteration; ++i)
            wanted[lane] = std::fma(wanted[lane], factor, addend);
        }
        return check_elements<float>(out, stream, "the end of the chain of thread",
                                     [&](std::size_t i) { return wanted[i % models::warp_size]; });
      });
}

Case grid_case(const char* kind, const models::Grid& grid) {
  const models::Waves w = models::waves(grid);
  Case c;
  c.name = fmt::format("{}/blocks:{}", kind, grid.blocks);
  c.axes = {
      {"block kind", kind}, {"waves", w.waves}, {"blocks", static_cast<std::int64_t>(grid.blocks)}};
  c.suite = quick_if(2 * w.waves == std::floor(2 * w.waves) || w.tail_blocks == 1);
  c.metric = {"time", "s", Better::lower, std::nullopt};
  c.value = [](double seconds) { return seconds; };
  c.extras = {{"wave_efficiency", w.efficiency}};
  c.counters = {{"achieved_occupancy"}};
  return c;
}

Case chain_case(const DeviceFacts& device, const models::Grid& grid, const Blocks& blocks) {
  const bool alone = blocks.threads == few_threads;
  const double hz = device.sm_clock_max_hz;
  const double fma_per_clock = models::sm_limits(device.major, device.minor).fp32_per_clock;
  // Clocks of one step of every resident thread's chain.
  const double step_clocks =
      std::max(fma_latency_clocks, grid.blocks_per_sm * blocks.threads / fma_per_clock);
  const int iterations = static_cast<int>(wave_clocks / step_clocks / steps_per_iteration);
  const double steps = static_cast<double>(iterations) * steps_per_iteration;
  Case c = grid_case(alone ? "latency-bound" : "throughput-bound", grid);
  c.expected = Expectation{
      models::expected_seconds(grid, steps * step_clocks / hz,
                               alone ? models::BlockCost::latency : models::BlockCost::throughput,
                               launch_seconds),
      0.05,
      fmt::format(
          "{:.0f} dependent FMAs of {:.0f} clocks at {:.0f} MHz per wave, {}", steps, step_clocks,
          hz / 1e6,
          alone ? "a partial wave costs a whole one" : "an SM's blocks share its FMA pipes")};
  const double busiest = static_cast<double>(models::waves(grid).blocks_of_busiest_sm);
  const double in_turn = fma_latency_clocks * steps * std::ceil(busiest / grid.blocks_per_sm);
  c.bound = Bound{
      std::max(in_turn, busiest * blocks.threads * steps / fma_per_clock) / hz,
      fmt::format(
          "the busiest SM's {:.0f} blocks at {:.0f} FMAs and the chain's {:.0f} clocks a step",
          busiest, fma_per_clock, fma_latency_clocks)};
  c.prepare = [=](Context& context) { return prepare_chain(context, iterations, blocks); };
  return c;
}

Case copy_case(const DeviceFacts& device, const models::Grid& grid, const Blocks& blocks) {
  const std::uint64_t bytes = chunk_bytes * grid.blocks;
  Case c = grid_case("memory-bound", grid);
  // Flushed, so that a grid whose data fits the L2 is not on another curve than the others.
  c.cache = CacheState::cold;
  const DeviceBound& dram = fathom::bound(device, "dram_bandwidth");
  c.bound = Bound{static_cast<double>(bytes) / dram.value,
                  "reads once through DRAM; writes may stay in the L2 (" + dram.source + ")"};
  const int resident = std::min<int>(grid.blocks_per_sm, models::waves(grid).blocks_of_busiest_sm);
  const models::StreamExpectation stream =
      expected_stream(device, {.read_bytes = bytes,
                               .write_bytes = bytes,
                               .bytes_per_access = 16,
                               .independent_loads = 4,
                               .resident_threads_per_sm = resident * many_threads,
                               .threads = grid.blocks * many_threads});
  c.expected = Expectation{stream.seconds, 0.25, "streaming model: " + stream.sentence};
  c.prepare = [=](Context& context) {
    return copying(context, bytes, [=, stream = context.stream()](uint4* source, uint4* copy) {
      launch(chunk_copy, blocks, stream, source, copy, chunk_bytes / sizeof(uint4));
    });
  };
  return c;
}

std::vector<Case> cases(const DeviceFacts& device) {
  std::vector<Case> all;
  const int shared = shared_for_blocks(device, blocks_per_sm);
  const auto add = [&](auto make, int resident, int threads) {
    // Quarters of a wave, and one block past whole waves, where a staircase is at its worst.
    const int wave = device.sms * resident;
    std::set<int> sizes{wave + 1, 2 * wave + 1};
    for (int quarters = 1; quarters <= 16; ++quarters) sizes.insert(wave * quarters / 4);
    for (const int blocks : sizes)
      all.push_back(make(device, {static_cast<std::uint64_t>(blocks), resident, device.sms},
                         {blocks, threads, shared}));
  };
  for (const int threads : {few_threads, many_threads})
    add(chain_case, resident_blocks_with(fma_chain, threads, shared), threads);
  add(copy_case, resident_blocks_with(chunk_copy, many_threads, shared), many_threads);
  return all;
}

const Probe probe{
    .name = "tail_effect",
    .question = "Does a grid that does not fill its last wave pay for the whole wave?",
    .method =
        "Grids of equal blocks from a quarter of a wave to four waves, two blocks resident per SM, "
        "in three kinds: a chain of dependent FMAs in few threads (a block takes the same time "
        "alone as beside another), FMAs in enough threads to fill the pipes (blocks of an SM share "
        "them), and a copy of 1 MiB a block (all blocks share DRAM). The chains' end values and "
        "the copies are checked. Efficiency is the share of the last wave's slots that had work.",
    .conclude = conclude,
    .cases = {cases}};

}  // namespace
}  // namespace fathom::tail_effect

FATHOM_PROBE(fathom::tail_effect::probe)
