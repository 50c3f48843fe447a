#include "probes/memory_bandwidth/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/occupancy.h"

namespace fathom::memory_bandwidth {
namespace {

/// A headline's samples are each a mean over hundreds of microseconds; more than a curve's point.
constexpr Precision headline_precision{
    .relative_half_width = 0.001, .min_samples = 36, .time_limit_s = 0.08};
constexpr Precision curve_precision{
    .relative_half_width = 0.01, .min_samples = 6, .time_limit_s = 0.03};

const models::SmLimits* limits_of(const DeviceFacts& device) {
  try {
    return &models::sm_limits(device.major, device.minor);
  } catch (const std::invalid_argument&) {
    return nullptr;  // a chip newer than the tables
  }
}

}  // namespace

const char* name_of(Operation operation) {
  constexpr const char* names[] = {"load", "store", "copy"};
  return names[static_cast<int>(operation)];
}

std::string instruction_of(const Access& access) {
  const char* load = access.path == Path::cached    ? "ld.global"
                     : access.path == Path::l2_only ? "ld.global.cg"
                                                    : "ld.global.L1::no_allocate";
  if (access.operation == Operation::load) return load;
  return access.operation == Operation::store ? "st.global" : fmt::format("{}, st.global", load);
}

Case make_case(const Point& point) {
  Case c;
  c.name = fmt::format("{}/{}/{}/{}/width:{}", point.sweep, point.level, name_of(point.operation),
                       point.instruction, point.width);
  c.axes = {{"sweep", point.sweep},
            {"level", point.level},
            {"operation", name_of(point.operation)},
            {"instruction", point.instruction},
            {"width (B)", std::int64_t{point.width}}};
  add_axes(c, point.more);
  c.suite = point.suite;
  c.metric = {"bandwidth", "B/s", Better::higher, std::nullopt};
  c.precision = point.sweep == "level" ? headline_precision : curve_precision;
  return c;
}

std::optional<Bound> sm_bound(const DeviceFacts& device, int sms, double bytes_per_clock,
                              const std::string& what) {
  if (!(device.sm_clock_max_hz > 0)) return std::nullopt;
  return Bound{sms * device.sm_clock_max_hz * bytes_per_clock,
               fmt::format("{} SMs x {:.0f} MHz x {} B/clk, {}", sms, device.sm_clock_max_hz / 1e6,
                           bytes_per_clock, what)};
}

std::optional<Bound> dram_bound(const DeviceFacts& device) {
  for (const DeviceBound& bound : device.bounds)
    if (bound.name == "dram_bandwidth") return Bound{bound.value, bound.source};
  return std::nullopt;
}

std::optional<Bound> load_store_bound(const DeviceFacts& device, int sms) {
  return sm_bound(device, sms, l1_bytes_per_clock(device), "the SM's load/store path");
}

double l1_bytes_per_clock(const DeviceFacts& device) {
  const models::SmLimits* limits = limits_of(device);
  return limits == nullptr ? 128 : limits->l1_bytes_per_clock;
}

std::size_t unified_bytes(const DeviceFacts& device) {
  const models::SmLimits* limits = limits_of(device);
  return limits == nullptr ? 128 * kib : static_cast<std::size_t>(limits->unified_bytes);
}

double traffic_for(const DeviceFacts& device, Level level, int sms) {
  constexpr double seconds = 400e-6, usual_clock = 1.5e9, usual_dram = 0.5e12;
  constexpr double usual_l2_bytes = 38;  // of an SM and clock, when all of them ask
  const double clock = device.sm_clock_max_hz > 0 ? device.sm_clock_max_hz : usual_clock;
  switch (level) {
    case Level::l1:
      return seconds * sms * clock * l1_bytes_per_clock(device);
    case Level::l2:
      return seconds * sms * clock * usual_l2_bytes;
    case Level::dram: {
      const auto bound = dram_bound(device);
      const double path = sms * clock * l1_bytes_per_clock(device) / 2;
      return seconds * std::min(bound ? bound->value : usual_dram, path);
    }
  }
  return 0;
}

int one_block_shared_bytes(const DeviceFacts& device) {
  const std::size_t half = device.shared_bytes_per_sm / 2 + kib;
  return static_cast<int>(std::min(half, device.shared_bytes_per_block_max) / kib * kib);
}

std::vector<std::uint64_t> geometric(std::uint64_t low, std::uint64_t high, int per_octave) {
  std::vector<std::uint64_t> sizes;
  for (int k = 0;; ++k) {
    const double size = static_cast<double>(low) * std::exp2(static_cast<double>(k) / per_octave);
    if (size > static_cast<double>(high) * 1.0000001) return sizes;
    sizes.push_back(static_cast<std::uint64_t>(size + 0.5));
  }
}

Workload reporting_workload(Context& context, const Buffer& reports, double bytes_per_warp,
                            bool in_kernel, const std::shared_ptr<Readings>& readings,
                            std::function<void()> launch) {
  cudaStream_t stream = context.stream();
  const double max_hz = context.device().sm_clock_max_hz;
  const auto read = [=] {
    readings->take(read_launch(copy_to_host<WarpReport>(reports, stream), bytes_per_warp));
  };
  Workload workload;
  workload.launch = std::move(launch);
  if (in_kernel) {
    workload.read_sample = [=] {
      read();
      return readings->last_bandwidth(max_hz);
    };
  }
  workload.extras = [=] {
    if (!in_kernel) read();
    return readings->extras();
  };
  return workload;
}

}  // namespace fathom::memory_bandwidth
