#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/cuda_check.h"
#include "harness/probe.h"
#include "models/bandwidth.h"
#include "models/occupancy.h"
#include "models/warp_access.h"
#include "models/waves.h"
#include "probes/claims.h"
#include "probes/tail_effect/kernels.h"

namespace fathom::tail_effect {
namespace {

/// Clocks from one FMA to the next that needs its result: of a V100 (its white paper; Jia et al.,
/// "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", table 4.1) and of an H100
/// (models/published_hopper.cpp). Taken for every chip from 7.0 on.
constexpr double fma_latency_clocks = 4;

/// Time of an empty launch as the timing sees it, which a sample of many launches spreads.
constexpr double launch_seconds = 2e-6;

constexpr double tolerance = 0.05;

/// Clocks that a full wave takes: long against the launch, whose own time differs by a quarter of a
/// microsecond between processes.
constexpr double wave_clocks = 200'000;

constexpr std::size_t chunk_bytes = 1 << 20;

/// A kind of block: what limits it while it shares its SM.
struct BlockKind {
  const char* name;
  int threads;
  models::BlockCost cost;
};

// Two blocks per SM by shared memory. 128 threads leave the FMA pipes half empty, so a block does
// not notice its neighbour; 1024 fill them twice over.
constexpr BlockKind latency_bound{"latency-bound", 128, models::BlockCost::latency};
constexpr BlockKind throughput_bound{"throughput-bound", 1024, models::BlockCost::throughput};
constexpr BlockKind memory_bound{"memory-bound", 1024, models::BlockCost::throughput};
constexpr int wanted_blocks_per_sm = 2;

int dynamic_shared_for(const DeviceFacts& device, int blocks_per_sm) {
  const auto per_block = device.shared_bytes_per_sm / blocks_per_sm;
  const auto usable = std::min(per_block - device.reserved_shared_bytes_per_block,
                               device.shared_bytes_per_block_max);
  return static_cast<int>(usable / 1024 * 1024);
}

/// The end value of a lane's chain; fma on the host rounds as on the GPU.
float chain_end(int lane, int iterations) {
  float x = start_value(lane);
  for (int i = 0; i < iterations * steps_per_iteration; ++i) x = std::fma(x, factor, addend);
  return x;
}

Workload prepare_chain(Context& context, ChainLaunch launch) {
  cudaStream_t stream = context.stream();
  const std::size_t count = static_cast<std::size_t>(launch.blocks) * launch.threads;
  const Buffer out = context.buffers().output("out", count * sizeof(float));
  launch.out = out.as<float>();
  Workload workload;
  workload.launch = [=] { launch_chain(launch, stream); };
  workload.poison = [=, &context] { context.buffers().poison(out); };
  workload.verify = [=]() -> std::optional<std::string> {
    const std::vector<float> host = copy_to_host<float>(out, stream);
    float wanted[models::warp_size];
    for (int lane = 0; lane < models::warp_size; ++lane) wanted[lane] = chain_end(lane, launch.iterations);
    for (std::size_t thread = 0; thread < count; ++thread) {
      const float expected = wanted[thread % models::warp_size];
      if (host[thread] == expected) continue;  // NaN equals nothing, so poison is found too
      return fmt::format("thread {} ended its chain at {} instead of {}", thread, host[thread], expected);
    }
    return std::nullopt;
  };
  return workload;
}

Workload prepare_copy(Context& context, ChunkCopyLaunch launch) {
  cudaStream_t stream = context.stream();
  const std::size_t bytes = launch.chunk_bytes * launch.blocks;
  const Buffer src = context.buffers().input("src", bytes);
  const Buffer dst = context.buffers().output("dst", bytes);
  launch.src = src.data;
  launch.dst = dst.data;
  Workload workload;
  workload.launch = [=] { launch_chunk_copy(launch, stream); };
  workload.poison = [=, &context] { context.buffers().poison(dst); };
  workload.verify = [=]() -> std::optional<std::string> {
    const std::uint64_t wrong = count_different_bytes(src.data, dst.data, bytes, stream);
    if (wrong == 0) return std::nullopt;
    return fmt::format("{} of {} bytes were not copied", wrong, bytes);
  };
  return workload;
}

/// Grids in waves: quarters up to four, and one block past each of the first two whole waves, where
/// a staircase is at its worst.
std::vector<int> grid_sizes(int wave_blocks) {
  std::vector<int> sizes;
  for (int quarters = 1; quarters <= 16; ++quarters) sizes.push_back(wave_blocks * quarters / 4);
  sizes.push_back(wave_blocks + 1);
  sizes.push_back(2 * wave_blocks + 1);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

bool in_quick_suite(const models::Waves& w) {
  const double twice = 2 * w.waves;
  return twice == std::floor(twice) || w.tail_blocks == 1;
}

class TailEffect : public Probe {
 public:
  std::string name() const override { return "tail_effect"; }
  std::string question() const override {
    return "Does a grid that does not fill its last wave pay for the whole wave?";
  }
  std::string method() const override {
    return "Grids of equal blocks from a quarter of a wave to four waves, two blocks resident per SM, "
           "in three kinds: a chain of dependent FMAs in few threads (a block takes the same time "
           "alone as beside another), FMAs in enough threads to fill the pipes (blocks of an SM share "
           "them), and a copy of 1 MiB a block (all blocks share DRAM). The chains' end values and the "
           "copies are checked. Efficiency is the share of the last wave's slots that had work.";
  }

  std::vector<Case> cases(const DeviceFacts& device) const override {
    std::vector<Case> result;
    const int shared = dynamic_shared_for(device, wanted_blocks_per_sm);
    for (const BlockKind& kind : {latency_bound, throughput_bound}) {
      const int resident = resident_blocks_of_chain(kind.threads, shared);
      for (const int blocks : grid_sizes(device.sms * resident)) {
        result.push_back(chain_case(device, kind, resident, blocks, shared));
      }
    }
    const int resident = resident_blocks_of_chunk_copy(memory_bound.threads, shared);
    for (const int blocks : grid_sizes(device.sms * resident)) {
      result.push_back(copy_case(device, resident, blocks, shared));
    }
    return result;
  }

  Findings conclude(std::span<const Entry> entries) const override {
    return fathom::tail_effect::conclude(entries);
  }

 private:
  static Case grid_case(const BlockKind& kind, const models::Grid& grid) {
    const models::Waves w = models::waves(grid);
    Case c;
    c.name = fmt::format("{}/blocks:{}", kind.name, grid.blocks);
    c.axes = {{"block kind", kind.name},
              {"waves", w.waves},
              {"blocks", static_cast<std::int64_t>(grid.blocks)}};
    c.suite = in_quick_suite(w) ? Suite::quick : Suite::standard;
    c.metric = {"time", "s", Better::lower, std::nullopt};
    c.value = [](double seconds) { return seconds; };
    c.extras = {{"wave_efficiency", w.efficiency}};
    c.counters = {{"achieved_occupancy", std::nullopt, 0, ""}};
    return c;
  }

  static Case chain_case(const DeviceFacts& device, const BlockKind& kind, int resident, int blocks,
                         int shared) {
    const models::Grid grid{static_cast<std::uint64_t>(blocks), resident, device.sms};
    const double fma_per_clock = models::sm_limits(device.major, device.minor).fp32_per_clock;
    // Clocks of one step of every resident thread's chain.
    const double step_clocks = std::max(fma_latency_clocks, resident * kind.threads / fma_per_clock);
    const int iterations = static_cast<int>(wave_clocks / step_clocks / steps_per_iteration);
    const double steps = static_cast<double>(iterations) * steps_per_iteration;
    const double wave_seconds = steps * step_clocks / device.sm_clock_max_hz;

    Case c = grid_case(kind, grid);
    c.expected = Expectation{
        models::expected_seconds(grid, wave_seconds, kind.cost, launch_seconds), tolerance,
        fmt::format("{:.0f} dependent FMAs of {:.0f} clocks at {:.0f} MHz per wave, {}", steps,
                    step_clocks, device.sm_clock_max_hz / 1e6,
                    kind.cost == models::BlockCost::latency
                        ? "a partial wave costs a whole one"
                        : "an SM's blocks share its FMA pipes")};
    const double busiest = static_cast<double>(models::waves(grid).blocks_of_busiest_sm);
    c.bound = Bound{
        std::max(fma_latency_clocks * steps * std::ceil(busiest / resident),
                 busiest * kind.threads * steps / fma_per_clock) / device.sm_clock_max_hz,
        fmt::format("the busiest SM's {:.0f} blocks at {:.0f} FMAs and the chain's {:.0f} clocks a step",
                    busiest, fma_per_clock, fma_latency_clocks)};
    const ChainLaunch launch{nullptr, iterations, blocks, kind.threads, shared};
    c.prepare = [launch](Context& context) { return prepare_chain(context, launch); };
    return c;
  }

  static Case copy_case(const DeviceFacts& device, int resident, int blocks, int shared) {
    const models::Grid grid{static_cast<std::uint64_t>(blocks), resident, device.sms};
    const std::uint64_t bytes = chunk_bytes * grid.blocks;
    Case c = grid_case(memory_bound, grid);
    // Flushed, so that a grid whose data fits the L2 is not on another curve than the others.
    c.cache = CacheState::cold;
    const DeviceBound& dram = fathom::bound(device, "dram_bandwidth");
    c.bound = Bound{static_cast<double>(bytes) / dram.value,
                    "reads once through DRAM; writes may stay in the L2 (" + dram.source + ")"};
    const models::StreamExpectation stream = models::expected_stream(
        {dram.value, device.sms, device.sm_clock_max_hz, device.l2_bytes},
        {.read_bytes = bytes, .write_bytes = bytes, .bytes_per_access = 16, .independent_loads = 4,
         .resident_threads_per_sm = std::min<int>(resident, (blocks + device.sms - 1) / device.sms) *
                                    memory_bound.threads,
         .threads = grid.blocks * memory_bound.threads});
    c.expected = Expectation{stream.seconds, 0.25, "streaming model: " + stream.sentence};
    const ChunkCopyLaunch launch{nullptr, nullptr, chunk_bytes, blocks, memory_bound.threads, shared};
    c.prepare = [launch](Context& context) { return prepare_copy(context, launch); };
    return c;
  }
};

}  // namespace
}  // namespace fathom::tail_effect

FATHOM_PROBE(fathom::tail_effect::TailEffect)
