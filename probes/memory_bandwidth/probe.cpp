#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "probes/claims.h"
#include "probes/memory_bandwidth/cases.h"
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

/// The launch's bytes per second, of which every warp moved `bytes_per_warp`: bytes per clock x SMs
/// x SM clock. The clock is taken to be at most `max_hz`, since the global timer of some chips
/// ticks in microseconds. Throws std::invalid_argument for reports whose clocks stood still or ran
/// backwards.
double take(Readings& readings, std::span<const WarpReport> reports, double bytes_per_warp,
            double max_hz) {
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
  const double rate = median(rates), sms = static_cast<double>(windows.size());
  const double hz = nanoseconds > 0 ? 1e9 * clocks / nanoseconds : 0;
  readings["bytes_per_clock"].push_back(rate);
  readings["sm_clock_hz"].push_back(hz);
  readings["sms"].push_back(sms);
  const double known = hz > 0 ? hz : max_hz;
  return rate * sms * (max_hz > 0 ? std::min(known, max_hz) : known);
}

/// From six launches on also the ends of the 95 % interval, "bytes_per_clock_low" and "_high".
std::map<std::string, double> extras(const Readings& readings) {
  std::map<std::string, double> result;
  for (const auto& [name, values] : readings) {
    result[name] = median(values);
    constexpr std::size_t enough = 6;  // for 95 %, see results/statistics.h
    if (name != "bytes_per_clock" || values.size() < enough) continue;
    const Interval interval = median_interval(values);
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
            {"width (B)", width}};
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

int one_block_shared_bytes(const DeviceFacts& device) {
  const std::size_t half = device.shared_bytes_per_sm / 2 + kib;
  return static_cast<int>(std::min(half, device.shared_bytes_per_block_max) / kib * kib);
}

std::function<Workload(Context&)> report_workload(std::function<Reporting(Context&)> prepare) {
  return [=, readings = std::make_shared<Readings>()](Context& context) {
    const Reporting of = prepare(context);
    Workload workload = of.workload;
    if (of.reports.data == nullptr) return workload;
    const auto read = [=, stream = context.stream(), max_hz = context.device().sm_clock_max_hz] {
      return take(*readings, copy_to_host<WarpReport>(of.reports, stream), of.bytes_per_warp,
                  max_hz);
    };
    if (of.in_kernel) workload.read_sample = read;
    workload.extras = [=, in_kernel = of.in_kernel] {
      if (!in_kernel) read();
      return extras(*readings);
    };
    return workload;
  };
}

std::uint64_t largest_region(const DeviceFacts& device) {
  constexpr std::uint64_t most = std::uint64_t{4} << 30;
  return std::min<std::uint64_t>(most, device.memory_bytes / 8);
}

namespace {

/// Prefixes of two buffers, so that a curve of many sizes fills random data only twice.
Buffer source(Context& context, std::uint64_t bytes) {
  const std::uint64_t whole =
      bytes <= BufferPool::small_bytes ? BufferPool::small_bytes : largest_region(context.device());
  return {context.buffers().input("src", std::max(bytes, whole)).data, bytes};
}

std::uint32_t sum_of(Context& context, const Buffer& data) {
  const Buffer word = context.buffers().output("word", sizeof(std::uint32_t));
  FATHOM_CUDA(cudaMemsetAsync(word.data, 0, word.bytes, context.stream()));
  launch(sum_words, check_grid, context.stream(), data.as<std::uint32_t>(),
         data.bytes / sizeof(std::uint32_t), word.as<std::uint32_t>());
  return copy_to_host<std::uint32_t>(word, context.stream()).front();
}

template <class Run>
void prefer_l1(void (*kernel)(Run)) {
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxL1));
}

/// Launches `run` on the first of the SMs in their order, one block on each.
std::function<void()> launch_on_chosen(Context& context, const GlobalRun& run) {
  if (run.access != Access{})
    throw std::invalid_argument("chosen SMs load by ld.global.cg, four times 16 bytes, alone");
  cudaStream_t stream = context.stream();
  const Buffer started = context.buffers().output("started", sizeof(unsigned));
  FATHOM_CUDA(cudaMemsetAsync(started.data, 0, started.bytes, stream));
  const SmRun chosen{run, started.as<unsigned>()};
  const Blocks grid{context.device().sms, run.threads, one_block_shared_bytes(context.device())};
  resident_blocks_with(stream_on_sms, grid.threads, grid.dynamic_shared);
  return [=] { launch(stream_on_sms, grid, stream, chosen); };
}

Reporting prepare(Context& context, const GlobalPlan& plan) {
  cudaStream_t stream = context.stream();
  BufferPool& buffers = context.buffers();
  const Access access = plan.access;
  const bool tiles = plan.tiles;
  const WalkShape walk = plan.walk();
  const int threads = plan.warps * warp_lanes;
  // Blocks that share out the working set, and what tells the sum of what they load.
  const int parts = tiles ? static_cast<int>(plan.region() / granule(walk)) : walk.blocks;
  const std::size_t all_warps = static_cast<std::size_t>(parts) * plan.warps;
  Buffer src, dst;  // of loads and copies, of stores and copies; else without data
  if (access.operation != Operation::store) src = source(context, plan.region());
  if (access.operation != Operation::load) dst = buffers.output("dst", plan.region());
  const Buffer told = tiles ? buffers.output("sums", tile_sums * sizeof(std::uint32_t))
                            : buffers.output("reports", all_warps * sizeof(WarpReport));
  Reporting result;
  if (tiles) {
    const TileRun run{access, static_cast<std::uint32_t>(parts), src.data, dst.data,
                      told.as<std::uint32_t>()};
    const auto kernel = tile_kernel(access);
    prefer_l1(kernel);
    result.workload.launch = [=, grid = Blocks{parts * plan.passes, threads}] {
      launch(kernel, grid, stream, run);
    };
  } else {
    const GlobalRun run{access,
                        plan_walk(walk, plan.region(), plan.passes),
                        parts,
                        threads,
                        src.data,
                        dst.data,
                        told.as<WarpReport>()};
    const auto kernel = global_kernel(access);
    prefer_l1(kernel);
    result.workload.launch = [=] { launch(kernel, {parts, threads}, stream, run); };
    if (plan.chosen_sms) result.workload.launch = launch_on_chosen(context, run);
    result.reports = told;
    result.bytes_per_warp = plan.bytes_of_pass() * plan.passes / static_cast<double>(all_warps);
    result.in_kernel = plan.in_kernel;
  }
  result.workload.poison = [=, &buffers] {
    // The sums go on from launch to launch; that of one launch is looked at.
    if (tiles)
      FATHOM_CUDA(cudaMemsetAsync(told.data, 0, told.bytes, stream));
    else
      buffers.poison(told);
    if (dst.data != nullptr) buffers.poison(dst);
  };
  // Loads add up each word once for each touch and pass.
  std::uint32_t expected = 0;
  if (access.operation == Operation::load)
    expected = sum_of(context, src) * static_cast<std::uint32_t>(touches_per_pass(walk)) *
               static_cast<std::uint32_t>(plan.passes);
  result.workload.verify = [=, &context]() -> std::optional<std::string> {
    if (access.operation == Operation::copy)
      return check_copied(src.data, dst.data, dst.bytes, stream);
    if (access.operation == Operation::store)
      return none_wrong(
          context,
          [&](unsigned long long* wrong) {
            launch(count_wrong_words, check_grid, stream, dst.as<std::uint32_t>(), dst.bytes / 4,
                   access, static_cast<std::uint32_t>(all_warps), wrong);
          },
          fmt::format("of {} words were not stored", dst.bytes / 4));
    std::uint32_t sum = 0;
    if (tiles)
      for (const std::uint32_t s : copy_to_host<std::uint32_t>(told, stream)) sum += s;
    else
      for (const WarpReport& r : copy_to_host<WarpReport>(told, stream)) sum += r.sum;
    if (sum == expected) return std::nullopt;
    return fmt::format("the words loaded sum to {:#x} instead of {:#x}", sum, expected);
  };
  return result;
}

std::string instruction_of(const Access& access) {
  constexpr const char* loads[] = {"ld.global", "ld.global.cg", "ld.global.L1::no_allocate"};
  const std::string load = loads[static_cast<int>(access.path)];
  if (access.operation == Operation::load) return load;
  return access.operation == Operation::store ? "st.global" : load + ", st.global";
}

}  // namespace

double GlobalPlan::bytes_of_pass() const {
  return static_cast<double>(bytes) * static_cast<double>(touches_per_pass(walk()));
}

GlobalPlan fitted(GlobalPlan plan) {
  while (granule(plan.walk()) > plan.region() && plan.warps > 1) plan.warps /= 2;
  const std::uint64_t unit = granule(plan.walk());
  plan.bytes = std::max<std::uint64_t>(1, plan.region() / unit) * unit * plan.copies();
  plan.passes = std::max(1, static_cast<int>(plan.traffic / plan.bytes_of_pass() + 0.5));
  return plan;
}

Case global_case(const DeviceFacts& device, const char* sweep, const char* level, Suite suite,
                 const GlobalPlan& wanted) {
  constexpr const char* sharings[] = {"each warp its part", "each SM its part",
                                      "every SM everything"};
  const GlobalPlan plan = fitted(wanted);
  const Access& access = plan.access;
  const std::int64_t warps_per_sm = std::int64_t{plan.warps} * plan.blocks_per_sm;
  Axes more{
      {"SMs", std::int64_t{plan.sms}},
      {"warps per SM", warps_per_sm},
      {"loads in flight", std::int64_t{access.loads}},
      {"sharing", plan.tiles ? "each warp one tile" : sharings[static_cast<int>(plan.sharing)]},
      {"working set (B)", static_cast<std::int64_t>(plan.bytes)},
      {"bytes in flight (B)", warps_per_sm * plan.sms * static_cast<std::int64_t>(access.tile())}};
  if (plan.chosen_sms) more.emplace_back("SM order", "even smids first");
  Case c =
      make_case(sweep, level, access.operation, instruction_of(access), access.width, more, suite);
  const double moved = plan.bytes_of_pass() * plan.passes;
  c.value = rate(moved);
  c.cache = plan.cache;
  // Every byte passes an SM's load/store path, the L1's data stage. What lies between SM and L2 is
  // no narrower: one SM of an H200 alone takes 115 B/clk from the L2 (this probe).
  c.bound =
      sm_bound(device, plan.sms, limits_of(device).l1_bytes_per_clock, "the SM's load/store path");
  c.extras = {{"bytes_moved", moved}};
  c.prepare = report_workload([plan](Context& context) { return prepare(context, plan); });
  return c;
}

const Probe probe{
    .name = "memory_bandwidth",
    .question =
        "How many bytes does each level of the memory hierarchy move, and what does it take to "
        "saturate it?",
    .method =
        "One wave of blocks walks again and again over a working set in tiles, several accesses of "
        "each thread in flight. Registers, shared memory and the L1 are timed by the SMs' clocks: "
        "the median SM, times SMs and SM clock; the L2, DRAM and the curves by events. Other grids "
        "have many more blocks than run at once, each over after one tile a warp. Registers: the "
        "three 4-byte operands a lane that each fused multiply-add takes. L2: loads that cannot "
        "hit in the L1 (ld.global.cg) or leave nothing in it (L1::no_allocate). DRAM: more than "
        "the L2 holds many times over, for loads from a flushed L2. A copy's bytes count as read "
        "and as written. What is loaded is added up, what is stored or copied compared word by "
        "word.",
    .conclude = conclude,
    .cases = {on_chip_cases, level_cases, curve_cases}};

}  // namespace fathom::memory_bandwidth

FATHOM_PROBE(fathom::memory_bandwidth::probe)
