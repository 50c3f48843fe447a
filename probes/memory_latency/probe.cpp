#include "probes/memory_latency/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "harness/cuda_check.h"
#include "probes/claims.h"
#include "results/statistics.h"

namespace fathom::memory_latency {

namespace {

/// What the samples of one case have told besides the metric.
struct Readings {
  double clocks = 0, nanoseconds = 0;  ///< of all kernels, from their begin to their end
  std::vector<double> means, loads;    ///< of all samples; of `each`: of all loads
};

/// Mean latency of a chase's loads in cycles; `each`: less the median of its empty brackets. The
/// median of the second loads of pairs, since the first load of a page's first pair may leave a
/// translation behind or not.
double take(Readings& readings, const Report& report, const Reporting& of) {
  readings.clocks += static_cast<double>(report.clock_end - report.clock_begin);
  readings.nanoseconds += static_cast<double>(report.ns_end - report.ns_begin);
  double mean = static_cast<double>(report.clocks) / of.loads;
  std::vector<double> latencies;
  if (of.timed == Timed::each) {
    const double empty = median(std::vector<double>(report.empty, report.empty + empty_brackets));
    for (int i = of.pairs; i < of.loads; i += 1 + of.pairs)
      latencies.push_back(report.times[i] - empty);
    mean = std::accumulate(latencies.begin(), latencies.end(), 0.0) / latencies.size();
    readings.loads.insert(readings.loads.end(), latencies.begin(), latencies.end());
  }
  readings.means.push_back(mean);
  return of.pairs ? median(latencies) : mean;
}

/// "latency_ns" by the SM clock that the kernels saw; of `each` the distribution over all loads.
std::map<std::string, double> extras(const Readings& r) {
  std::map<std::string, double> result;
  if (r.means.empty()) return result;
  if (r.clocks > 0 && r.nanoseconds > 0) {
    result["latency_ns"] = median(r.means) * r.nanoseconds / r.clocks;
    result["sm_clock_hz"] = 1e9 * r.clocks / r.nanoseconds;
  }
  if (r.loads.empty()) return result;
  for (const auto& [name, p] : {std::pair{"p5", 0.05}, {"p50", 0.5}, {"p95", 0.95}})
    result[name] = quantile(r.loads, p);
  const TwoGroups groups = two_groups(r.loads);
  result.insert({{"low_group", groups.low},
                 {"high_group", groups.high},
                 {"high_group_share", groups.high_share},
                 {"group_separation", groups.separation}});
  return result;
}

std::optional<std::string> check(const Report& report, const Reporting& of) {
  const bool timed =
      of.timed == Timed::mean ? report.clocks > 0 : report.times[of.loads - 1] != 0xFFFFFFFFu;
  if (!timed || report.clock_end <= report.clock_begin) return "the kernel reported no clocks";
  if (of.executed && report.executed != *of.executed)
    return fmt::format("the code added {} times instead of {}", report.executed, *of.executed);
  const ChaseEnd expected = of.end(report.base);
  if (report.end == expected.address && report.sum == expected.sum) return std::nullopt;
  return fmt::format("the chase ended at {:#x} instead of {:#x}, or not by the addresses wanted",
                     report.end, expected.address);
}

}  // namespace

std::function<Workload(Context&)> report_workload(std::function<Reporting(Context&)> prepare) {
  return [=, readings = std::make_shared<Readings>()](Context& context) {
    const Reporting of = prepare(context);
    const Buffer buffer = context.buffers().output("report", sizeof(Report));
    const auto report = [=, stream = context.stream()] {
      return copy_to_host<Report>(buffer, stream).front();
    };
    Workload workload = workload_of(
        context, {buffer}, [=] { of.launch(buffer.as<Report>()); },
        [=] { return check(report(), of); });
    workload.read_sample = [=] { return take(*readings, report(), of); };
    workload.extras = [=] { return extras(*readings); };
    return workload;
  };
}

std::function<Workload(Context&)> chase_workload(const Chase& wanted, const PrepareChase& prepare) {
  return report_workload([=](Context& context) -> Reporting {
    Chase chase = wanted;
    const LaunchChase launch = prepare(context, chase);
    return {[=, stream = context.stream()](Report* report) mutable {
              chase.report = report;
              launch(chase, stream);
            },
            [=](std::uint64_t base) mutable {
              chase.chain.base = base;
              return follow(chase.chain, chase.walked_loads, chase.loads);
            },
            chase.timed, chase.loads};
  });
}

LaunchChase chase_through(Context& context, GlobalLoad load, int carveout_percent, Chase& chase,
                          void* memory) {
  chase.chain.base = chase.warm.base = reinterpret_cast<std::uint64_t>(memory);
  launch(write_chain, threads_for(chase.chain.count, 256), context.stream(), chase.chain);
  return [=](const Chase& with_report, cudaStream_t stream) {
    launch_global_chase(load, carveout_percent, with_report, stream);
  };
}

std::size_t region_bytes(const DeviceFacts& device) {
  const std::size_t wanted = std::max<std::size_t>(4 * device.l2_bytes, std::size_t{1} << 30);
  return std::min(wanted, device.memory_bytes / 4);
}

PrepareChase in_region(GlobalLoad load, int carveout_percent) {
  return [=](Context& context, Chase& chase) {
    const Buffer memory = context.buffers().output("region", region_bytes(context.device()));
    // Not zero, which could be told from data by compression, up to behind the last element.
    const Chain& c = chase.chain;
    const std::uint64_t span = (c.count - 1) * c.stride +
                               std::uint64_t{c.jitter_slots - 1} * c.jitter_bytes +
                               sizeof(std::uint64_t);
    FATHOM_CUDA(cudaMemsetAsync(memory.data, 0x5A, span, context.stream()));
    return chase_through(context, load, carveout_percent, chase, memory.data);
  };
}

Case make_case(const char* sweep, const char* level, const char* instruction, Timed timed,
               const Axes& more, Suite suite) {
  Case c;
  const char* method = timed == Timed::mean ? "unrolled chase" : "single loads";
  c.name = fmt::format("{}/{}/{}/{}", sweep, level, instruction, method);
  c.axes = {{"sweep", sweep}, {"level", level}, {"instruction", instruction}, {"method", method}};
  add_axes(c, more);
  c.suite = suite;
  c.metric = {"latency", "cycles", Better::lower, std::nullopt};
  c.precision = Precision{};
  return c;
}

Case headline(const char* level, const char* instruction, std::size_t bytes, const Chase& chase,
              const PrepareChase& prepare) {
  Case c = make_case("latency", level, instruction, chase.timed, {working_set_axis(bytes)},
                     Suite::quick);
  // The mean over thousands of loads already, and most do not vary at all.
  c.precision = Precision{.relative_half_width = 0.002, .min_samples = 12, .time_limit_s = 0.15};
  c.prepare = chase_workload(chase, prepare);
  return c;
}

std::vector<CounterRequest> hits(GlobalLoad load, const Chase& chase) {
  const double warmed =
      chase.warm.stride >= 32 ? chase.warm.count : chase.warm.count * chase.warm.stride / 32.0;
  std::vector<CounterRequest> counters{
      {"global_load_sectors", chase.loads + chase.walked_loads + warmed * chase.warm_passes, 0,
       "one sector a load of the chasing thread, and the sectors of the loads that warm up"},
      {"l1_hit_rate"}};
  if (load == GlobalLoad::l2_only)
    counters.insert(counters.end(), {{"l2_hit_rate"}, {"dram_read_bytes"}});
  return counters;
}

void add_steps(std::set<std::size_t>& sizes, std::size_t low, std::size_t high, std::size_t step) {
  for (std::size_t size = low; size <= high; size += step) sizes.insert(size);
}

const Probe probe{
    .name = "memory_latency",
    .question =
        "How long does a load take from each level of the memory hierarchy, and how much does each "
        "level hold?",
    .method = fmt::format(
        "One thread follows a chain of addresses in pseudo-random order, so that each load waits "
        "for the one before. Mean: an unrolled chase bracketed by clock64. Distribution: the clock "
        "before and after each of up to {} loads, less the median of empty brackets. The set is "
        "warmed by the same SM before. Where a chase ends and the sum of the addresses that it "
        "visited must be the host's. Sizes are where the curve of latency over working set leaves "
        "a plateau, by change-point segmentation with bootstrapped intervals. Instruction caches "
        "show in the pace of straight-line code by its length; code beside a chase through "
        "constants fills the cache that both share. Nanoseconds are cycles by the SM clock that "
        "the kernels saw (clock64 against the global timer).",
        max_timed_loads),
    .conclude = conclude,
    // The pages come last: they take nearly all of the memory.
    .cases = {latency_cases, fetch_cases, constant_cases, cache_cases, far_cases}};

}  // namespace fathom::memory_latency

FATHOM_PROBE(fathom::memory_latency::probe)
