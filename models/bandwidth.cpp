#include "models/bandwidth.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <span>
#include <utility>

#include "models/formatted.h"
#include "models/warp_access.h"

namespace fathom::models {
namespace {

using P = StreamParameters;

void require_positive(const char* of, std::initializer_list<double> figures) {
  for (const double figure : figures)
    if (!(figure > 0)) refuse("%s needs positive figures, one of them is %g", of, figure);
}

/// What all SMs do in a second that each does `per_clock` times.
PhysicalBound sm_bound(const PhysicalDevice& d, const char* name, int per_clock, const char* what) {
  require_positive(name, {real(d.sms), d.sm_clock_hz, real(per_clock)});
  return {.name = name,
          .unit = "B/s",
          .value = d.sms * d.sm_clock_hz * per_clock,
          .source =
              formatted("%d SMs x %.0f MHz x %d %s", d.sms, d.sm_clock_hz / 1e6, per_clock, what)};
}

/// The ceilings of `bytes` useful bytes. Memory and latency come first.
std::vector<Ceiling> ceilings_of(const StreamDevice& device, const StreamKernel& kernel,
                                 double bytes, bool in_l2) {
  std::vector<Ceiling> ceilings;
  const auto add = [&](const char* name, double bytes_per_second, std::string reason) {
    ceilings.push_back({name, bytes_per_second, std::move(reason)});
  };
  const double mhz = device.sm_clock_hz / 1e6, clocks = device.sms * device.sm_clock_hz;
  const bool mixed = kernel.read_bytes != 0 && kernel.write_bytes != 0;
  const double efficiency = mixed ? P::dram_efficiency_mixed : P::dram_efficiency_read;
  if (in_l2)
    add("L2", clocks * P::l2_bytes_per_clock * P::l2_efficiency / kernel.traffic_ratio,
        formatted("%d SMs x %.0f MHz x %.0f B/clk at %.1f %%", device.sms, mhz,
                  P::l2_bytes_per_clock, 100 * P::l2_efficiency));
  else
    add("DRAM", device.dram_bandwidth * efficiency / kernel.traffic_ratio,
        formatted("%.0f GB/s at %.1f %% (%s)", device.dram_bandwidth / 1e9, 100 * efficiency,
                  mixed ? "reads and writes" : "one direction"));

  if (kernel.read_bytes != 0) {
    const double latency = in_l2                     ? P::loaded_l2_latency_seconds
                           : kernel.write_bytes == 0 ? P::loaded_latency_read_seconds
                                                     : P::loaded_latency_seconds;
    double threads = real(kernel.resident_threads_per_sm) * device.sms;
    if (kernel.threads != 0) threads = std::min(threads, real(kernel.threads));
    const double in_flight = threads * kernel.bytes_per_access * kernel.independent_loads;
    add("latency", in_flight / latency * bytes / real(kernel.read_bytes),
        formatted("%.0f KiB of loads in flight over %.0f ns", in_flight / 1024, latency * 1e9));
  }

  const int width = std::min(kernel.bytes_per_access, 16);
  add("load/store units", clocks * P::memory_instructions_per_clock * warp_size * width,
      formatted("%d SMs x %.0f MHz x %g warp instructions a clock x %d B", device.sms, mhz,
                P::memory_instructions_per_clock, warp_size * width));

  // A thread's access reads and writes; count the bytes of both.
  const double larger = real(std::max(kernel.read_bytes, kernel.write_bytes));
  const double bytes_per_warp_access = warp_size * kernel.bytes_per_access * bytes / larger;
  const double instructions =
      P::instructions_per_access + P::instructions_per_thread / kernel.accesses_per_thread;
  add("instruction issue", clocks * P::issue_per_clock / instructions * bytes_per_warp_access,
      formatted("%d SMs x %.0f MHz x %g slots / %.1f instructions x %.0f B", device.sms, mhz,
                P::issue_per_clock, instructions, bytes_per_warp_access));

  if (kernel.threads_per_block != 0) {
    const double bytes_per_block = kernel.threads_per_block * kernel.accesses_per_thread *
                                   kernel.bytes_per_access * bytes / larger;
    add("block starts", device.sm_clock_hz * P::blocks_per_clock * bytes_per_block,
        formatted("%.0f MHz x %g blocks a clock x %.0f B", mhz, P::blocks_per_clock,
                  bytes_per_block));
  }
  return ceilings;
}

}  // namespace

PhysicalBound dram_bandwidth_bound(const PhysicalDevice& d) {
  require_positive("dram_bandwidth", {real(d.memory_bus_bits), d.memory_clock_hz});
  return {.name = "dram_bandwidth",
          .unit = "B/s",
          .value = d.memory_bus_bits / 8.0 * d.memory_clock_hz * 2,
          .source = formatted("%d bit x %.0f MHz x 2 transfers / 8", d.memory_bus_bits,
                              d.memory_clock_hz / 1e6)};
}

PhysicalBound pcie_bandwidth_bound(int generation, int lanes) {
  struct Rate {
    double transfers_per_second;
    int payload_bits, coded_bits;
  };
  static constexpr Rate rates[] = {{2.5e9, 8, 10},   {5e9, 8, 10},     {8e9, 128, 130},
                                   {16e9, 128, 130}, {32e9, 128, 130}, {64e9, 1, 1}};
  if (generation < 1 || generation > static_cast<int>(std::size(rates)) || lanes < 1)
    refuse("no PCIe link of generation %d with %d lanes is known", generation, lanes);
  const Rate& rate = rates[generation - 1];
  return {.name = "pcie_bandwidth",
          .unit = "B/s",
          .value = rate.transfers_per_second * lanes * rate.payload_bits / rate.coded_bits / 8,
          .source = formatted("PCIe generation %d: %g GT/s x %d lanes x %d/%d / 8, one direction",
                              generation, rate.transfers_per_second / 1e9, lanes, rate.payload_bits,
                              rate.coded_bits)};
}

PhysicalBound shared_bandwidth_bound(const PhysicalDevice& d) {
  return sm_bound(d, "shared_bandwidth", d.l1_bytes_per_clock, "B/clk");
}

PhysicalBound l1_bandwidth_bound(const PhysicalDevice& d) {
  return sm_bound(d, "l1_bandwidth", d.l1_bytes_per_clock, "B/clk");
}

PhysicalBound fp32_fma_bound(const PhysicalDevice& d) {
  PhysicalBound bound = sm_bound(d, "fp32_fma", d.fp32_per_clock, "FMA x 2");
  bound.unit = "FLOP/s";
  bound.value *= 2;
  return bound;
}

StreamExpectation expected_stream(const StreamDevice& device, const StreamKernel& kernel) {
  require_positive("a streaming expectation's device",
                   {device.dram_bandwidth, real(device.sms), device.sm_clock_hz});
  const double bytes = real(kernel.read_bytes) + real(kernel.write_bytes);
  require_positive(
      "a streaming kernel",
      {bytes, real(kernel.bytes_per_access), kernel.independent_loads, kernel.accesses_per_thread,
       real(kernel.resident_threads_per_sm), kernel.traffic_ratio});
  if (kernel.threads_per_block < 0) refuse("a block cannot have a negative number of threads");
  const bool in_l2 =
      kernel.hot && bytes * kernel.traffic_ratio <= P::l2_usable_share * real(device.l2_bytes);
  StreamExpectation e;
  e.ceilings = ceilings_of(device, kernel, bytes, in_l2);
  const Ceiling& lowest = *std::ranges::min_element(e.ceilings, {}, &Ceiling::bytes_per_second);
  // What memory and latency, which are reached softly, leave of each other.
  constexpr double sharpness = 2.5;
  double sum = 0;
  for (const Ceiling& soft : std::span(e.ceilings).first(kernel.read_bytes != 0 ? 2 : 1))
    sum += std::pow(soft.bytes_per_second, -sharpness);
  const double rate = std::min(lowest.bytes_per_second, std::pow(sum, -1 / sharpness));
  const double streaming = bytes / rate;
  const double overhead = in_l2 ? P::l2_overhead_seconds : P::overhead_seconds;
  e.seconds = overhead + streaming;
  e.bytes_per_second = bytes / e.seconds;
  e.bound_by = overhead > streaming ? "launch overhead" : lowest.name;
  e.sentence = formatted(
      "%.0f GB/s, bound by %s: %.1f us of overhead and %.1f us at %.0f GB/s (%s: %s, at most %.0f "
      "GB/s)",
      e.bytes_per_second / 1e9, e.bound_by.c_str(), overhead * 1e6, streaming * 1e6, rate / 1e9,
      lowest.name.c_str(), lowest.reason.c_str(), lowest.bytes_per_second / 1e9);
  return e;
}

}  // namespace fathom::models
