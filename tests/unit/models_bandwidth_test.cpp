#include "models/bandwidth.h"
#include "tests/testing.h"

namespace fathom::models {
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
}  // namespace fathom::models
