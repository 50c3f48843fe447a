#include "probes/memory_bandwidth/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "probes/claims.h"
#include "results/statistics.h"

namespace fathom::memory_bandwidth {
namespace {

/// What the launches of one case have told, by the extra whose value is their median:
/// "bytes_per_clock" of the median SM, from its first warp's start to its last warp's end;
/// "sm_clock_hz", clock64 against the global timer; "sms" that ran any warp.
using Readings = std::map<std::string, std::vector<double>>;

struct Window {
  std::int64_t start, end;
  double bytes = 0;
};

/// Every warp of the launch moved `bytes_per_warp`. Throws std::invalid_argument for reports whose
/// clocks stood still or ran backwards.
void take(Readings& readings, std::span<const WarpReport> reports, double bytes_per_warp) {
  std::map<std::uint32_t, Window> windows;  // by SM: clocks of different SMs do not compare
  double clocks = 0, nanoseconds = 0;
  for (const WarpReport& r : reports) {
    if (r.end <= r.start || r.ns_end < r.ns_start)
      throw std::invalid_argument("a warp's clock stood still or ran backwards");
    clocks += static_cast<double>(r.end - r.start);
    nanoseconds += static_cast<double>(r.ns_end - r.ns_start);
    Window& w = windows.try_emplace(r.sm, Window{r.start, r.end}).first->second;
    w.start = std::min(w.start, r.start);
    w.end = std::max(w.end, r.end);
    w.bytes += bytes_per_warp;
  }
  std::vector<double> rates;
  for (const auto& [sm, w] : windows)
    rates.push_back(w.bytes / static_cast<double>(w.end - w.start));
  readings["bytes_per_clock"].push_back(median(rates));
  readings["sm_clock_hz"].push_back(nanoseconds > 0 ? 1e9 * clocks / nanoseconds : 0);
  readings["sms"].push_back(static_cast<double>(windows.size()));
}

/// The last launch's bytes per second: bytes per clock x SMs x SM clock. The clock is taken to be
/// at most `max_hz`, since the global timer of some chips ticks in microseconds.
double last_bandwidth(const Readings& readings, double max_hz) {
  const auto last = [&](const char* name) { return readings.at(name).back(); };
  const double known = last("sm_clock_hz") > 0 ? last("sm_clock_hz") : max_hz;
  return last("bytes_per_clock") * last("sms") * (max_hz > 0 ? std::min(known, max_hz) : known);
}

/// From six launches on also the ends of the 95 % interval, "bytes_per_clock_low" and "_high".
std::map<std::string, double> extras(const Readings& readings) {
  std::map<std::string, double> result;
  for (const auto& [name, values] : readings) {
    result[name] = median(values);
    constexpr std::size_t enough = 6;  // for 95 %, see results/statistics.h
    if (name != "bytes_per_clock" || values.size() < enough) continue;
    const Interval interval = median_interval(values, 0.95);
    result[name + "_low"] = interval.low;
    result[name + "_high"] = interval.high;
  }
  return result;
}

const char* name_of(Operation operation) {
  constexpr const char* names[] = {"load", "store", "copy"};
  return names[static_cast<int>(operation)];
}

}  // namespace

Case make_case(const std::string& sweep, const char* level, Operation operation,
               const std::string& instruction, int width, const Axes& more, Suite suite) {
  Case c;
  c.name =
      fmt::format("{}/{}/{}/{}/width:{}", sweep, level, name_of(operation), instruction, width);
  c.axes = {{"sweep", sweep},
            {"level", level},
            {"operation", name_of(operation)},
            {"instruction", instruction},
            {"width (B)", std::int64_t{width}}};
  add_axes(c, more);
  c.suite = suite;
  c.metric = {"bandwidth", "B/s", Better::higher, std::nullopt};
  c.precision = Precision{.relative_half_width = 0.01, .min_samples = 6, .time_limit_s = 0.03};
  if (sweep == "level")  // each sample is a mean over hundreds of microseconds
    c.precision = Precision{.relative_half_width = 0.001, .min_samples = 36, .time_limit_s = 0.08};
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

double traffic_for(const DeviceFacts& device, Level level, int sms) {
  constexpr double seconds = 400e-6, usual_clock = 1.5e9, usual_dram = 0.5e12;
  constexpr double usual_l2_bytes = 38;  // of an SM and clock, when all of them ask
  const double clocks = sms * (device.sm_clock_max_hz > 0 ? device.sm_clock_max_hz : usual_clock);
  const double path = clocks * limits_of(device).l1_bytes_per_clock;
  const auto dram = dram_bound(device);
  return seconds * (level == Level::l1   ? path
                    : level == Level::l2 ? clocks * usual_l2_bytes
                                         : std::min(dram ? dram->value : usual_dram, path / 2));
}

int one_block_shared_bytes(const DeviceFacts& device) {
  const std::size_t half = device.shared_bytes_per_sm / 2 + kib;
  return static_cast<int>(std::min(half, device.shared_bytes_per_block_max) / kib * kib);
}

std::function<Workload(Context&)> report_workload(std::function<Reporting(Context&)> prepare) {
  return [=, readings = std::make_shared<Readings>()](Context& context) {
    const Reporting of = prepare(context);
    Workload workload = of.workload;
    if (of.reports.data == nullptr) return workload;
    const auto read = [=, stream = context.stream()] {
      take(*readings, copy_to_host<WarpReport>(of.reports, stream), of.bytes_per_warp);
    };
    if (of.in_kernel)
      workload.read_sample = [=, max_hz = context.device().sm_clock_max_hz] {
        read();
        return last_bandwidth(*readings, max_hz);
      };
    workload.extras = [=, in_kernel = of.in_kernel] {
      if (!in_kernel) read();
      return extras(*readings);
    };
    return workload;
  };
}

const Probe probe{
    .name = "memory_bandwidth",
    .question =
        "How many bytes does each level of the memory hierarchy move, and what does it take to "
        "saturate it?",
    .method =
        "One wave of blocks walks again and again over a working set in tiles, several accesses of "
        "each thread in flight, and every SM reports its clock at its first warp's start and at "
        "its last warp's end. Registers, shared memory and the L1 are timed by those clocks: the "
        "median over the SMs, times SMs and SM clock. The L2, DRAM and the curves are timed by "
        "events. Other grids have many more blocks than run at once, each over after one tile a "
        "warp, so that SMs share the work as each gets done. Few SMs are those with even numbers "
        "first, then odd ones. Registers: the three 4-byte operands a lane that each fused "
        "multiply-add takes, no two in a row sharing one. L2: loads that cannot hit in the L1 "
        "(ld.global.cg) or that leave nothing in it (L1::no_allocate), every sector of them read "
        "by the L2 where it was counted. DRAM: more than the L2 holds many times over, for loads "
        "from a flushed L2. A copy's bytes count as read and as written. What is loaded is added "
        "up and compared with the sum that other code makes of the same bytes; what is stored or "
        "copied is compared word by word.",
    .conclude = conclude,
    .cases = {on_chip_cases, level_cases, curve_cases}};

}  // namespace fathom::memory_bandwidth

FATHOM_PROBE(fathom::memory_bandwidth::probe)
