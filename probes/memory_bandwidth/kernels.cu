#include <array>

#include "probes/memory_bandwidth/stream.cuh"

namespace fathom::memory_bandwidth {
namespace {

__device__ __forceinline__ void step(float& x, float factor, float term) {
  asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(factor), "f"(term));
}

}  // namespace

__global__ void __launch_bounds__(register_threads) read_registers(RegisterRun run) {
  // Each chain has operands of its own, so that no two multiply-adds in a row share one, which the
  // second would take from the collector instead of the register file; and each lane has a copy,
  // since what all lanes share the compiler keeps in uniform registers. Compiled for sm_90a, no
  // operand has the reuse flag, and of the three of each instruction two are even registers and one
  // odd or the reverse, both equally often: an H200 takes 1.99 operands a clock and lane, which
  // fits two banks (even and odd) that give one each.
  float factors[register_chains][2], terms[register_chains][2], x[register_chains];
  const float* operand = run.operands + threadIdx.x % warp_lanes;
#pragma unroll
  for (int c = 0; c < register_chains; ++c) {
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {
      factors[c][parity] = operand[(c * 4 + parity) * warp_lanes];
      terms[c][parity] = operand[(c * 4 + 2 + parity) * warp_lanes];
    }
  }
#pragma unroll
  for (int c = 0; c < register_chains; ++c)
    x[c] = register_start(static_cast<int>(threadIdx.x % warp_lanes), c);
  __syncthreads();
  Stopwatch stopwatch(run.reports + grid_warp());
#pragma unroll 1
  for (int i = 0; i < run.iterations; ++i) {
#pragma unroll
    for (int s = 0; s < register_steps; ++s) {
#pragma unroll
      for (int c = 0; c < register_chains; ++c) step(x[c], factors[c][s % 2], terms[c][s % 2]);
    }
  }
  // A sum of zero that is known only when every chain has ended.
  std::uint32_t bits = 0;
#pragma unroll
  for (int c = 0; c < register_chains; ++c) bits |= __float_as_uint(x[c]);
  stopwatch.stop(bits == 0xFFFFFFFFu ? 1 : 0);
  float* after = run.after + thread_number() * register_chains;
#pragma unroll
  for (int c = 0; c < register_chains; ++c) after[c] = x[c];
}

// Through global memory: the walk of all SMs, and of chosen ones while the others are idle; grids
// of many more blocks than run at once, each over after one tile for each of its warps, so that an
// SM that is done sooner gets the next block; and what checks them.

namespace {

constexpr int max_threads = 1024;

/// The walk of the calling block, which is number `block` of those that share out the work.
template <Operation operation, Path path, int width, int loads>
__device__ __forceinline__ void walk_global(const GlobalRun& run, std::uint32_t block) {
  using Space = Global<path>;
  const Walk& walk = run.walk;
  const std::uint64_t base =
      reinterpret_cast<std::uint64_t>(operation == Operation::store ? run.dst : run.src);
  const std::uint64_t end = base + block * walk.block_region + walk.span;
  const std::uint64_t p =
      base + walk.start(block, threadIdx.x / warp_lanes) + threadIdx.x % warp_lanes * width;
  const std::uint32_t thread = block * blockDim.x + threadIdx.x;
  const Vector<width> value = value_to_store<width>(thread);
  __syncthreads();
  Stopwatch stopwatch(run.reports + thread / warp_lanes);
  const std::uint64_t distance = reinterpret_cast<std::uint64_t>(run.dst) - base;
  stopwatch.stop(stream<operation, width, loads, Space>(p, end, walk.step, walk.span, walk.tiles,
                                                        distance, value));
}

template <Operation operation, Path path, int width, int loads>
__global__ void __launch_bounds__(max_threads) stream_global(GlobalRun run) {
  walk_global<operation, path, width, loads>(run, blockIdx.x);
}

/// After so many clocks an idle block no longer waits for the others, whatever happened to them.
constexpr std::int64_t patience_clocks = 2'000'000;

/// Keeps the SM taken until every block has an SM of its own: a block that left at once could make
/// room for one that is yet to start, and a chosen SM might go without.
__device__ void wait_until_all_have_started(unsigned* started, unsigned last) {
  constexpr unsigned poll_ns = 100;
  const std::int64_t start = clock_now();
  while (atomicAdd(started, 0u) < last && clock_now() - start < patience_clocks)
    __nanosleep(poll_ns);
}

constexpr int max_tile_threads = 512;

template <Operation operation, Path path, int loads>
__global__ void __launch_bounds__(max_tile_threads) stream_tiles(TileRun run) {
  using Space = Global<path>;
  constexpr int width = 16;
  const std::uint32_t part = blockIdx.x % run.parts;
  const std::uint32_t thread = part * blockDim.x + threadIdx.x;
  const std::uint64_t offset = std::uint64_t{thread / warp_lanes} * (width * warp_lanes * loads) +
                               thread % warp_lanes * width;
  if constexpr (operation == Operation::store) {
    Vector<width> values[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) values[i] = value_to_store<width>(thread);
    store_tile<width, loads, Space>(reinterpret_cast<std::uint64_t>(run.dst) + offset, values);
  } else {
    Vector<width> values[loads];
    load_tile<width, loads, Space>(values, reinterpret_cast<std::uint64_t>(run.src) + offset);
    if constexpr (operation == Operation::copy) {
      store_tile<width, loads, Space>(reinterpret_cast<std::uint64_t>(run.dst) + offset, values);
    } else {
      // One addition to memory for each block: a warp's own would be traffic that counts.
      __shared__ std::uint32_t block_sum;
      if (threadIdx.x == 0) block_sum = 0;
      __syncthreads();
      std::uint32_t sum = 0;
#pragma unroll
      for (int i = 0; i < loads; ++i) add_words(sum, values[i]);
      sum = warp_sum(sum);
      if (threadIdx.x % warp_lanes == 0) atomicAdd(&block_sum, sum);
      __syncthreads();
      if (threadIdx.x == 0) atomicAdd(run.sums + blockIdx.x % tile_sums, block_sum);
    }
  }
}

/// Those that have a kernel.
constexpr auto accesses = [] {
  using enum Operation;
  using enum Path;
  return std::to_array<Access>(
      {{load, cached, 4, 4},       {load, cached, 8, 4},       {load, cached, 16, 4},
       {load, cached, 16, 8},      {load, l2_only, 4, 4},      {load, l2_only, 8, 4},
       {load, l2_only, 16, 1},     {load, l2_only, 16, 2},     {load, l2_only, 16, 4},
       {load, l2_only, 16, 8},     {load, no_allocate, 16, 4}, {load, no_allocate, 16, 8},
       {store, l2_only, 4, 4},     {store, l2_only, 8, 4},     {store, l2_only, 16, 4},
       {copy, l2_only, 4, 4},      {copy, l2_only, 8, 4},      {copy, l2_only, 16, 4}});
}();

/// The same of tiles. With eight loads the compiler waits for the first before it issues the last,
/// to save registers.
constexpr auto tile_accesses = [] {
  using enum Operation;
  constexpr Path path = Path::l2_only;
  return std::to_array<Access>({{load, path, 16, 1},
                                {load, path, 16, 2},
                                {load, path, 16, 4},
                                {store, path, 16, 1},
                                {store, path, 16, 2},
                                {copy, path, 16, 1},
                                {copy, path, 16, 2}});
}();

}  // namespace

__global__ void __launch_bounds__(max_threads, 1) stream_on_sms(SmRun run) {
  const std::uint32_t sm = sm_id();
  const std::uint32_t place = place_of_sm(sm, gridDim.x);
  const bool idle = sm >= gridDim.x || place >= static_cast<std::uint32_t>(run.global.blocks);
  if (threadIdx.x == 0) {
    // Counted on from launch to launch, so that nothing need be reset in between.
    const unsigned before = atomicAdd(run.started, 1u);
    if (idle) wait_until_all_have_started(run.started, (before / gridDim.x + 1) * gridDim.x);
  }
  if (idle) return;
  walk_global<Operation::load, Path::l2_only, 16, 4>(run.global, place);
}

void (*global_kernel(const Access& access))(GlobalRun) {
  return with_place<accesses>(access, [](auto place) -> void (*)(GlobalRun) {
    constexpr Access a = accesses[place];
    return stream_global<a.operation, a.path, a.width, a.loads>;
  });
}

void (*tile_kernel(const Access& access))(TileRun) {
  return with_place<tile_accesses>(access, [](auto place) -> void (*)(TileRun) {
    constexpr Access a = tile_accesses[place];
    return stream_tiles<a.operation, a.path, a.loads>;
  });
}

__global__ void sum_words(const std::uint32_t* data, std::uint64_t words, std::uint32_t* sum) {
  std::uint32_t own = 0;
  for (std::uint64_t i = thread_number(); i < words; i += std::uint64_t{gridDim.x} * blockDim.x)
    own += data[i];
  own = warp_sum(own);
  if (threadIdx.x % warp_lanes == 0) atomicAdd(sum, own);
}

__global__ void count_wrong_words(const std::uint32_t* data, std::uint64_t words, Access access,
                                  std::uint32_t grid_warps, unsigned long long* wrong) {
  unsigned long long own = 0;
  const auto tile = static_cast<std::uint32_t>(access.tile());
  const auto row = static_cast<std::uint32_t>(access.width * warp_lanes);
  for (std::uint64_t i = thread_number(); i < words; i += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t offset = i * sizeof(std::uint32_t);
    const auto warp = static_cast<std::uint32_t>(offset / tile % grid_warps);
    const auto within = static_cast<std::uint32_t>(offset % row);
    const std::uint32_t width = static_cast<std::uint32_t>(access.width);
    const std::uint32_t thread = warp * warp_lanes + within / width;
    own += data[i] != store_value(thread, within % width / sizeof(std::uint32_t));
  }
  if (own != 0) atomicAdd(wrong, own);
}

}  // namespace fathom::memory_bandwidth
