#include "probes/memory_latency/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "harness/cuda_handles.h"
#include "probes/claims.h"
#include "probes/memory_latency/facts.h"
#include "results/statistics.h"

namespace fathom::memory_latency {
namespace {

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
  double mean = static_cast<double>(report.clocks) / of.chase.loads;
  std::vector<double> latencies;
  if (of.chase.timed == Timed::each) {
    const double empty = median(std::vector<double>(report.empty, report.empty + empty_brackets));
    for (int i = of.pairs; i < of.chase.loads; i += 1 + of.pairs)
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
                 {"group_separation", groups.separation}});
  return result;
}

std::optional<std::string> check(const Report& report, const Reporting& of) {
  Chase chase = of.chase;
  const bool timed =
      chase.timed == Timed::mean ? report.clocks > 0 : report.times[chase.loads - 1] != 0xFFFFFFFFu;
  if (!timed || report.clock_end <= report.clock_begin) return "the kernel reported no clocks";
  if (of.executed && report.executed != *of.executed)
    return fmt::format("the code added {} times instead of {}", report.executed, *of.executed);
  chase.chain.base = report.base;
  const ChaseEnd expected = of.end ? *of.end : follow(chase.chain, chase.walked_loads, chase.loads);
  if (report.end == expected.address && report.sum == expected.sum) return std::nullopt;
  return fmt::format("the chase ended at {:#x} instead of {:#x}, or not by the addresses wanted",
                     report.end, expected.address);
}

}  // namespace

std::function<Workload(Context&)> report_workload(std::function<Reporting(Context&)> prepare) {
  return [=, readings = std::make_shared<Readings>()](Context& context) {
    Reporting of = prepare(context);
    const Buffer buffer = context.buffers().output("report", sizeof(Report));
    of.chase.report = buffer.as<Report>();
    cudaStream_t stream = context.stream();
    const auto report = [=] { return copy_to_host<Report>(buffer, stream).front(); };
    Workload workload = workload_of(
        context, {buffer}, [=] { of.launch(of.chase, stream); },
        [=] { return check(report(), of); });
    workload.read_sample = [=] { return take(*readings, report(), of); };
    workload.extras = [=] { return extras(*readings); };
    return workload;
  };
}

std::function<Workload(Context&)> chase_workload(const Chase& wanted, const PrepareChase& prepare) {
  return report_workload([=](Context& context) {
    Reporting of{.chase = wanted};
    of.launch = prepare(context, of.chase);
    return of;
  });
}

LaunchChase chase_through(Context& context, GlobalLoad load, int carveout_percent, Chase& chase,
                          void* memory) {
  chase.chain.base = chase.warm.base = reinterpret_cast<std::uint64_t>(memory);
  launch(write_chain, threads_for(chase.chain.count, 256), context.stream(), chase.chain);
  return global_chase(load, carveout_percent);
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
               const Axes& more, std::function<Workload(Context&)> prepare, Suite suite) {
  Case c;
  const char* method = timed == Timed::mean ? "unrolled chase" : "single loads";
  c.name = fmt::format("{}/{}/{}/{}", sweep, level, instruction, method);
  c.axes = {{"sweep", sweep}, {"level", level}, {"instruction", instruction}, {"method", method}};
  add_axes(c, more);
  c.suite = suite;
  c.metric = {"latency", "cycles", Better::lower, std::nullopt};
  c.precision = Precision{};
  c.prepare = std::move(prepare);
  return c;
}

Case headline(const char* level, const char* instruction, std::size_t bytes, const Chase& chase,
              const PrepareChase& prepare) {
  Case c = make_case("latency", level, instruction, chase.timed, {working_set_axis(bytes)},
                     chase_workload(chase, prepare), Suite::quick);
  // The mean over thousands of loads already, and most do not vary at all.
  c.precision = Precision{.relative_half_width = 0.002, .min_samples = 12, .time_limit_s = 0.15};
  return c;
}

namespace {

constexpr int mean_loads = 4096;
int loads_for(Timed timed) { return timed == Timed::mean ? mean_loads : max_timed_loads; }

Case cache_case(const char* level, GlobalLoad load, Timed timed, std::size_t bytes) {
  const Chase chase{.chain = spread(bytes, 128),
                    .loads = loads_for(timed),
                    .warm = spread(bytes, sizeof(std::uint64_t)),
                    .warm_passes = 2,
                    .timed = timed};
  Case c = headline(level, name_of(load), bytes, chase, in_region(load));
  if (load == GlobalLoad::cached || load == GlobalLoad::l2_only) c.counters = hits(load, chase);
  return c;
}

/// Flushed before each launch; one load of each large page first, so that none waits for a TLB.
Case dram_case(const DeviceFacts& device, Timed timed) {
  constexpr GlobalLoad load = GlobalLoad::l2_only;
  const std::size_t bytes = region_bytes(device) / large_page_bytes * large_page_bytes;
  const Chase chase{.chain = spread(bytes, 512),
                    .loads = timed == Timed::mean ? 2048 : max_timed_loads,
                    .warm = spread(bytes, large_page_bytes),
                    .warm_passes = 1,
                    .timed = timed};
  Case c = headline("DRAM", name_of(load), bytes, chase, in_region(load));
  c.extras = {{memory_bytes, static_cast<double>(device.memory_bytes)}};
  c.cache = CacheState::cold;
  // Refresh and the other traffic of DRAM make single samples differ by more than any interval.
  c.precision = Precision{.relative_half_width = 0.002, .min_samples = 24, .time_limit_s = 0.3};
  c.counters = hits(load, chase);
  return c;
}

Case shared_case(const DeviceFacts& device, const char* instruction, SharedLoad load, Timed timed) {
  constexpr int bytes = 4 * kib;
  Case c = headline("shared", instruction, bytes,
                    {.chain = spread(bytes, 4), .loads = loads_for(timed), .timed = timed},
                    [=](Context&, Chase&) { return shared_chase(load, bytes); });
  if (load == SharedLoad::load && timed == Timed::mean) {
    c.counters = {{"shared_load_instructions", mean_loads, 0, "the loads of the chase"}};
    c.extras = {{shared_bytes, static_cast<double>(device.shared_bytes_per_sm)},
                {register_bytes, 4.0 * device.registers_per_sm}};
  }
  return c;
}

Case texture_case(const char* level, std::size_t bytes, Timed timed) {
  const Chain texels = spread(bytes / 4, 128 / 4);
  return headline(level, "tex1Dfetch", bytes,
                  {.chain = texels,
                   .loads = loads_for(timed),
                   .walked_loads = static_cast<int>(texels.count),
                   .timed = timed},
                  [=](Context& context, Chase&) {
                    const std::vector<std::uint32_t> words = index_image(texels, bytes, 1);
                    return texture_chase(
                        upload(context, "texels", std::as_bytes(std::span(words))).data, bytes);
                  });
}

// Distributed shared memory: the first block of a cluster reads another's.

void add_clusters(std::vector<Case>& result, const DeviceFacts& device) {
  constexpr int bytes = 4096;
  const auto add = [&](SharedLoad load, const char* instruction, int size, int distance) {
    const Chase chase{.chain = spread(bytes, 4), .loads = mean_loads};
    const auto prepare = [=](Context&, Chase&) {
      return cluster_chase(load, bytes, size, distance);
    };
    result.push_back(make_case("distance", "distributed shared", instruction, Timed::mean,
                               {{"cluster size", size}, {"distance", distance}},
                               chase_workload(chase, prepare),
                               quick_if(distance == 1 || distance == size - 1)));
  };
  const int largest = largest_cluster(device.major, bytes);
  for (int size = 2; size <= largest; size *= 2)
    for (int distance = 0; distance < size; ++distance)  // 0: the own block, in the same way
      add(SharedLoad::load, "ld.shared::cluster", size, distance);
  if (largest < 2) return;
  add(SharedLoad::atomic_add, "atom.shared::cluster.add", 2, 1);
  add(SharedLoad::atomic_cas, "atom.shared::cluster.cas", 2, 1);
}

// Memory behind a link: the host's, pinned, and another GPU's. One load of 4 KiB each, by an
// instruction that no cache of this GPU may answer.

template <class Allocate>
Case link_case(const char* level, Timed timed, Allocate allocate) {
  constexpr GlobalLoad load = GlobalLoad::system;
  constexpr std::size_t stride = 4096, bytes = 4096 * stride;
  Case c = headline(
      level, name_of(load), bytes, {.chain = spread(bytes, stride), .loads = 512, .timed = timed},
      [=](Context& context, Chase& chase) -> LaunchChase {
        const std::shared_ptr<void> memory = allocate(bytes);
        const LaunchChase launch_it = chase_through(context, load, 0, chase, memory.get());
        FATHOM_CUDA(cudaStreamSynchronize(context.stream()));
        return [launch_it, memory](const Chase& with_report, cudaStream_t stream) {
          launch_it(with_report, stream);
        };
      });
  // What other traffic does to a link moves every median; the interval says how far.
  c.precision = Precision{.relative_half_width = 0.005, .min_samples = 24, .time_limit_s = 0.2};
  return c;
}

std::shared_ptr<void> pinned(std::size_t bytes) {
  const std::shared_ptr<std::byte> host = make_pinned_memory<std::byte>(bytes);
  void* mapped = nullptr;
  FATHOM_CUDA(cudaHostGetDevicePointer(&mapped, host.get(), 0));
  return {host, mapped};
}

/// The first other GPU whose memory this one may read; -1: none.
int first_peer(int device) {
  int devices = 0;
  FATHOM_CUDA(cudaGetDeviceCount(&devices));
  for (int other = 0; other < devices; ++other) {
    int can = 0;
    if (other != device) FATHOM_CUDA(cudaDeviceCanAccessPeer(&can, device, other));
    if (can != 0) return other;
  }
  return -1;
}

std::shared_ptr<void> on_peer(int device, int peer, std::size_t bytes) {
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  cudaGetLastError();  // clears what is no error: that it is enabled already
  if (status != cudaErrorPeerAccessAlreadyEnabled) FATHOM_CUDA(status);
  FATHOM_CUDA(cudaSetDevice(peer));
  void* memory = nullptr;
  const cudaError_t allocated = cudaMalloc(&memory, bytes);
  FATHOM_CUDA(cudaSetDevice(device));
  FATHOM_CUDA(allocated);
  return {memory, [](void* p) { cudaFree(p); }};
}

/// The TLBs: one line in each large page, over footprints up to nearly all of the memory. The lines
/// themselves fit the L2, so what grows with the footprint is address translation.
void add_pages(std::vector<Case>& result, const DeviceFacts& device) {
  constexpr GlobalLoad load = GlobalLoad::l2_only;
  constexpr std::uint64_t page = large_page_bytes;
  constexpr std::uint32_t line = 128;
  // The rest is for the driver, the L2's flush, and whoever else uses the GPU a little.
  const std::size_t rest = std::min<std::size_t>(std::size_t{6} << 30, device.memory_bytes / 4);
  const std::size_t limit = (device.memory_bytes - rest) / page * page;
  std::set<std::size_t> sizes = geometric(4 * page, limit, 4, page);
  sizes.insert(limit);
  for (const std::size_t size : sizes) {
    Chain chain = spread(size, page);
    // Within the page that the buffer's guard band leaves of the stride.
    chain.jitter_slots = (large_page_bytes - 2 * 4096) / line;
    chain.jitter_bytes = line;
    const auto prepare = [=](Context& context, Chase& chase) {
      // As much for all: allocated once.
      return chase_through(context, load, 0, chase, context.buffers().output("pages", limit).data);
    };
    Case& c = result.emplace_back(make_case(
        "pages", "TLB", name_of(load), Timed::mean, {working_set_axis(size)},
        chase_workload({.chain = chain, .loads = 2048, .warm = chain, .warm_passes = 2}, prepare)));
    c.extras["pages"] = chain.count;
  }
}

}  // namespace

std::vector<Case> latency_cases(const DeviceFacts& device) {
  using enum GlobalLoad;
  std::vector<Case> result;
  const std::size_t in_l2 = device.l2_bytes / 8 / (64 * kib) * (64 * kib);
  for (const Timed timed : {Timed::mean, Timed::each})
    result.insert(
        result.end(),
        {shared_case(device, "ld.shared", SharedLoad::load, timed),
         cache_case("L1", cached, timed, 16 * kib), cache_case("L1", read_only, timed, 16 * kib),
         cache_case("L2", l2_only, timed, in_l2), dram_case(device, timed),
         texture_case("texture L1", 16 * kib, timed), texture_case("texture L2", mib, timed),
         shared_case(device, "atom.shared.add", SharedLoad::atomic_add, timed),
         shared_case(device, "atom.shared.cas", SharedLoad::atomic_cas, timed),
         cache_case("L2", atomic_add, timed, mib), cache_case("L2", atomic_cas, timed, mib)});
  add_clusters(result, device);
  return result;
}

std::vector<Case> far_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  const int own = device.ordinal, peer = first_peer(own);
  for (const Timed timed : {Timed::mean, Timed::each}) {
    result.push_back(link_case("host", timed, pinned));
    if (peer >= 0)
      result.push_back(
          link_case("peer", timed, [=](std::size_t bytes) { return on_peer(own, peer, bytes); }));
  }
  add_pages(result, device);
  return result;
}

const Probe probe{
    .name = "memory_latency",
    .question =
        "How long does a load take from each level of the memory hierarchy, and how much does each "
        "level hold?",
    .method =
        "One thread follows a chain of addresses in pseudo-random order, so that each load waits "
        "for the one before: the mean by an unrolled chase bracketed by clock64, the distribution "
        "by the clock around each load, less the median of empty brackets. The same SM warms the "
        "set before. Where a chase ends and the sum of its addresses must be the host's. Sizes are "
        "where latency over working set leaves a plateau, by change-point segmentation. "
        "Instruction caches show in the pace of straight-line code by its length; code beside a "
        "chase through constants fills the cache that both share. Nanoseconds are cycles by the SM "
        "clock that the kernels saw (clock64 against the global timer).",
    .conclude = conclude,
    // The pages come last: they take nearly all of the memory.
    .cases = {latency_cases, fetch_cases, cache_cases, far_cases}};

}  // namespace fathom::memory_latency

FATHOM_PROBE(fathom::memory_latency::probe)
