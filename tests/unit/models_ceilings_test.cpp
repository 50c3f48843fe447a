// What physics, caches and whole waves allow, beyond what tests/golden/sessions/predictions.txt
// has.

#include "models/bandwidth.h"
#include "models/cache_sets.h"
#include "models/roofline.h"
#include "models/waves.h"
#include "tests/testing.h"

using namespace fathom::models;

namespace {

constexpr std::uint64_t GiB = 1024ull * 1024 * 1024;
const PhysicalDevice h200{
    .sms = 132, .sm_clock_hz = 1980e6, .memory_bus_bits = 6016, .memory_clock_hz = 3201e6};

StreamDevice stream_device() {
  return {.dram_bandwidth = dram_bandwidth_bound(h200).value,
          .sms = h200.sms,
          .sm_clock_hz = h200.sm_clock_hz,
          .l2_bytes = 50ull << 20};
}

TEST_CASE("Physical bounds follow from clocks and widths", "[models]") {
  const PhysicalBound dram = dram_bandwidth_bound(h200);
  CHECK(dram.value == Approx(4.8143e12).epsilon(1e-4));
  CHECK(dram.source == "6016 bit x 3201 MHz x 2 transfers / 8");
  CHECK(dram.name == "dram_bandwidth");
  CHECK(shared_bandwidth_bound(h200).value == Approx(33.454e12).epsilon(1e-4));
  CHECK(l1_bandwidth_bound(h200).value == shared_bandwidth_bound(h200).value);
  CHECK(fp32_fma_bound(h200).value == Approx(66.9e12).epsilon(1e-3));
  // The clocks that drivers report for GDDR follow the same rule: RTX 4090, 1008 GB/s.
  CHECK(dram_bandwidth_bound({.memory_bus_bits = 384, .memory_clock_hz = 10501e6}).value ==
        Approx(1008e9).epsilon(1e-3));
  CHECK_THROWS_AS(dram_bandwidth_bound({.memory_bus_bits = 384}), std::invalid_argument);
  CHECK_THROWS_AS(fp32_fma_bound({.sms = 1}), std::invalid_argument);
  CHECK_THROWS_AS(l1_bandwidth_bound({}), std::invalid_argument);
}

// Measured on an H200; copies of 1 GiB in blocks of 256 threads unless said otherwise.
TEST_CASE("The defaults give back the figures that they come from", "[models]") {
  const auto expected = [](const StreamKernel& kernel) {
    return expected_stream(stream_device(), kernel).bytes_per_second / 1e12;
  };
  for (const auto& [read, write, measured, within] : {std::tuple{GiB, GiB, 4.270, 0.005},
                                                      {4 * GiB, 4 * GiB, 4.285, 0.005},
                                                      {GiB, 0, 4.53, 0.01},
                                                      {4 * GiB, 0, 4.61, 0.01}})
    CHECK(expected({.read_bytes = read,
                    .write_bytes = write,
                    .bytes_per_access = 16,
                    .independent_loads = 16}) ==  // latency must not show
          Approx(measured).epsilon(within));
  for (const auto& [bytes, resident, block, measured] :
       {std::tuple{16, 2048, 256, 4.275},
        {16, 1024, 256, 3.716},
        {16, 768, 256, 3.211},
        {4, 2048, 256, 2.767},
        {1, 2048, 256, 0.842},
        // Small blocks cannot be started fast enough.
        {16, 2048, 64, 3.385},
        {16, 1024, 32, 1.700}})
    CHECK(expected({.read_bytes = GiB,
                    .write_bytes = GiB,
                    .bytes_per_access = bytes,
                    .resident_threads_per_sm = resident,
                    .threads_per_block = block}) ==
          Approx(measured).epsilon(block < 256 ? 0.05 : 0.09));
}

TEST_CASE("Each ceiling binds where it should", "[models]") {
  const StreamDevice device = stream_device();
  StreamDevice few_sms = device;
  few_sms.sms = 32;
  const StreamKernel copy{.read_bytes = GiB, .write_bytes = GiB, .bytes_per_access = 16},
      tiny{.read_bytes = 4096, .write_bytes = 4096};
  StreamKernel few = copy, bytes = copy;
  few.bytes_per_access = 4, few.resident_threads_per_sm = 512;
  bytes.bytes_per_access = 1, bytes.independent_loads = 16;
  StreamKernel unrolled = few, looped = bytes;
  unrolled.independent_loads = 4;
  looped.accesses_per_thread = 100;
  for (const auto& [on, kernel, bound_by] : {std::tuple{device, copy, "DRAM"},
                                             {device, few, "latency"},
                                             {few_sms, bytes, "instruction issue"},
                                             {few_sms, looped, "load/store units"},
                                             {device, tiny, "launch overhead"}})
    CHECK(expected_stream(on, kernel).bound_by == bound_by);
  CHECK_THAT(expected_stream(device, few).sentence, contains("264 KiB of loads in flight"));
  CHECK(expected_stream(device, tiny).seconds >= StreamParameters::overhead_seconds);
  const auto speed = [](const StreamDevice& on, const StreamKernel& kernel) {
    return expected_stream(on, kernel).bytes_per_second;
  };
  // Unrolling makes up for missing threads, one for one; a loop shares a thread's own instructions
  // among its accesses.
  CHECK(speed(device, unrolled) > speed(device, few));
  CHECK(speed(few_sms, looped) > speed(few_sms, bytes));
  CHECK(speed(device, {.read_bytes = GiB, .bytes_per_access = 4, .traffic_ratio = 8}) <
        device.dram_bandwidth / 8);

  // What is in the L2 comes sooner, so fewer threads do.
  StreamKernel cached{.read_bytes = 8 << 20,
                      .write_bytes = 8 << 20,
                      .bytes_per_access = 16,
                      .resident_threads_per_sm = 64};
  const auto cold = expected_stream(device, cached).ceilings;
  cached.hot = true;
  const auto hot = expected_stream(device, cached).ceilings;
  CHECK(hot.front().name == "L2");
  CHECK(cold.front().name == "DRAM");
  CHECK(hot[1].bytes_per_second > 2 * cold[1].bytes_per_second);

  const StreamKernel fill{.write_bytes = GiB, .bytes_per_access = 4, .resident_threads_per_sm = 32};
  for (const Ceiling& ceiling : expected_stream(device, fill).ceilings)
    CHECK(ceiling.name != "latency");
  // What moves nothing has no expectation.
  CHECK_THROWS_AS(expected_stream(device, {}), std::invalid_argument);
  CHECK_THROWS_AS(expected_stream({}, {.read_bytes = 1}), std::invalid_argument);
  CHECK_THROWS_AS(expected_stream(device, {.read_bytes = 1, .resident_threads_per_sm = 0}),
                  std::invalid_argument);
}

TEST_CASE("A PCIe link carries its raw rate less the line code", "[models]") {
  // 32 GT/s x 16 / 8 x 128/130
  for (const auto& [generation, lanes, bytes_per_s] : {std::tuple{1, 1, 250e6},
                                                       {2, 4, 2e9},
                                                       {3, 8, 7.877e9},
                                                       {4, 4, 7.877e9},
                                                       {5, 16, 63.015e9},
                                                       {6, 16, 128e9}})
    CHECK(pcie_bandwidth_bound(generation, lanes).value == Approx(bytes_per_s).epsilon(1e-4));
  for (const auto& [generation, lanes] : {std::pair{0, 16}, {7, 16}, {5, 0}})
    CHECK_THROWS_AS(pcie_bandwidth_bound(generation, lanes), std::invalid_argument);
}

}  // namespace

MemoryWork dram(double bytes) { return {"DRAM", 4e12, bytes}; }
ArithmeticWork bf16(double flops) { return {"bf16", 1000e12, flops}; }

// A kernel that DRAM bounds is held against tests/golden/sessions/predictions.txt.
TEST_CASE("At the ridge arithmetic binds, and of several levels the slowest", "[models]") {
  const Roofline at = roofline({dram(1e9)}, bf16(250e9));
  CHECK(at.bound_by == "bf16");
  CHECK(at.seconds == 0.25e-3);
  CHECK(at.levels.at(0).attainable == 1000e12);
  CHECK(roofline({dram(0)}, bf16(1e12)).seconds == 1e-3);
  // One without traffic does not bind, and has no intensity.
  const MemoryWork l2{"L2", 8e12, 4e9};
  for (const double from_dram : {1e9, 0.0}) {
    const Roofline r = roofline({dram(from_dram), l2}, bf16(1e9));
    CHECK(r.bound_by == "L2");
    CHECK(r.seconds == 0.5e-3);
    CHECK(r.levels.at(0).intensity.has_value() == (from_dram > 0));
  }
  CHECK(ridge_point(l2, bf16(0)) == 125);
}

TEST_CASE("A matrix product reads both operands once and writes its result", "[models]") {
  // The claims' 4092³ product in fp32: 268 MB with C read too.
  const MatrixProduct p{.m = 4092, .n = 4092, .k = 4092, .input_bytes = 4, .output_bytes = 4};
  CHECK(matrix_product_flops(p) == Approx(137.04e9).epsilon(1e-4));
  CHECK(matrix_product_bytes(p) == Approx(268e6 * 3 / 4).epsilon(1e-3));
  CHECK_THROWS_AS(matrix_product_flops({.m = 0, .n = 1, .k = 1}), std::invalid_argument);
}

TEST_CASE("Ceilings and kernels that cannot be are refused", "[models]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, nan, infinity}) {
    CHECK_THROWS_AS(roofline({{"DRAM", bad, 1}}, bf16(1)), std::invalid_argument);
    CHECK_THROWS_AS(roofline({dram(1)}, {"bf16", bad, 1}), std::invalid_argument);
  }
  for (const double bad : {-1.0, nan, infinity}) {
    CHECK_THROWS_AS(roofline({dram(1)}, bf16(bad)), std::invalid_argument);
    CHECK_THROWS_AS(roofline({dram(bad)}, bf16(1)), std::invalid_argument);
  }
  CHECK_THROWS_AS(roofline({dram(0)}, bf16(0)), std::invalid_argument);
  CHECK_THROWS_AS(roofline({}, bf16(0)), std::invalid_argument);
}

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

TEST_CASE("lines of a stride keep to the sets that they reach", "[models]") {
  // 64 KiB, lines of 128 bytes, 4 ways: 128 sets.
  const IndexedCache cache{64 * 1024, 128, 4};
  CHECK(most_lines_kept(cache, 128, 1000) == 512);
  CHECK(most_lines_kept(cache, 128, 100) == 100);
  CHECK(most_lines_kept(cache, 256, 1000) == 256);
  CHECK(most_lines_kept(cache, 128 * 128, 1000) == 4);
  CHECK(most_lines_kept(cache, 1 << 20, 1000) == 4);
  // A stride that has no factor with the number of sets reaches all of them.
  CHECK(most_lines_kept(cache, 128 * 129, 1000) == 512);
  CHECK(most_lines_kept_by_any(64 * 1024, 128, 64, 1 << 20, 1000) == 64);
  // 60 MiB: 8192 sets of 60 ways, of which a stride of 256 KiB reaches four.
  CHECK(most_lines_kept_by_any(60 << 20, 128, 64, 256 * 1024, 4096) == 240);
  CHECK(most_lines_kept_by_any(60 << 20, 128, 64, 128, 4096) == 4096);
  CHECK_THROWS_AS(most_lines_kept(cache, 100, 1), std::invalid_argument);
  CHECK_THROWS_AS(most_lines_kept(cache, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(most_lines_kept({256, 128, 4}, 128, 1), std::invalid_argument);
  CHECK_THROWS_AS(most_lines_kept({256, 128, 0}, 128, 1), std::invalid_argument);
}
