#include <fmt/format.h>

#include <algorithm>

#include "harness/cases.h"
#include "models/shared_memory.h"
#include "probes/bank_conflicts/kernels.h"
#include "probes/claims.h"
#include "probes/device/launch.h"
#include "results/statistics.h"

namespace fathom::bank_conflicts {
namespace {

using models::Access;
using models::WarpAccess;

/// Clocks of the timed part by the model: entering and leaving it is below a part in a thousand.
constexpr int target_clocks = 1 << 17;

int iterations_for(int clocks) {
  const int per_iteration = warps_per_block * accesses_per_iteration * std::max(clocks, 1);
  const int wanted = std::max(target_clocks / per_iteration, windows);
  return wanted / windows * windows;  // whole rounds: each window equally often
}

Workload prepare(Context& context, const WarpAccess& access, int iterations) {
  const int blocks = context.device().sms;
  const bool load = access.op == Access::load;
  cudaStream_t stream = context.stream();
  const Buffer clocks = context.buffers().output(
      "clocks", static_cast<std::size_t>(blocks) * warps_per_block * 2 * sizeof(long long));
  const Buffer out = context.buffers().output(
      "out", static_cast<std::size_t>(blocks) * (load ? threads_per_block : region_words) * 4);
  const std::vector<std::uint32_t> lanes(access.address.begin(), access.address.end());
  const Buffer offsets = upload(context, "lane offsets", std::as_bytes(std::span(lanes)));
  const Run run{offsets.as<std::uint32_t>(), access.active_mask, iterations, clocks.as<long long>(),
                out.as<std::uint32_t>()};
  const Kernel kernel = kernel_of(access.op, access.bytes_per_lane);

  Workload workload = workload_of(
      context, {out, clocks},
      [=, grid = Blocks{blocks, threads_per_block}] { launch(kernel, grid, stream, run); },
      [=] {
        return check_output(access, iterations, copy_to_host<std::uint32_t>(out, stream),
                            warps_per_block);
      });
  // A block's time over its accesses; the median over the SMs.
  workload.read_sample = [=] {
    return median(clocks_of_blocks(copy_to_host<long long>(clocks, stream), warps_per_block)) /
           (double{warps_per_block} * iterations * accesses_per_iteration);
  };
  return workload;
}

Case make_case(const Pattern& pattern, const DeviceFacts& device) {
  const WarpAccess& access = pattern.access;
  const bool load = access.op == Access::load;
  const char* op = load ? "load" : "store";
  const models::SharedCost cost = models::shared_cost(access);
  const int iterations = iterations_for(cost.clocks);
  const int active_lanes = __builtin_popcount(access.active_mask);

  Case c;
  c.name = fmt::format("{}/bits:{}/{}", op, access.bytes_per_lane * 8, pattern.name);
  c.axes = {{"operation", op},
            {"bits", std::int64_t{access.bytes_per_lane} * 8},
            {"family", pattern.family},
            {"pattern", pattern.name},
            {"active lanes", active_lanes}};
  if (pattern.stride_words != 0)
    c.axes.emplace_back("stride (words)", std::int64_t{pattern.stride_words});
  c.suite = quick_if(pattern.quick);
  c.metric = {"clocks_per_access", "clocks", Better::lower, std::nullopt};
  const double bytes = models::distinct_bytes(access);
  c.bound = Bound{std::max(1.0, bytes / 128.0),
                  fmt::format("{:.0f} distinct bytes through 32 banks of 4 bytes a clock, and one "
                              "clock an instruction at least",
                              bytes)};
  c.expected = Expectation{
      static_cast<double>(cost.clocks), 0.02,  // for the loop's overhead and the pipe's filling
      "shared-memory model: one clock a wavefront, and one at least for each group of lanes"};
  // Loads are filled by stores and stores read back by loads, so each operation's own counters see
  // the timed accesses alone, plus the stores' filling.
  const double warps = static_cast<double>(device.sms) * warps_per_block;
  const double accesses = warps * iterations * accesses_per_iteration;
  const double fill = load ? 0 : warps * fill_stores_per_warp;
  c.extras = {
      {"claimed_wavefronts", claimed_wavefronts(access)},
      {"useful_bytes_per_access", static_cast<double>(active_lanes) * access.bytes_per_lane},
      {"accesses", accesses},
      {"filling_stores", fill}};
  const std::string prefix = fmt::format("shared_{}_", op);
  const std::string model =
      std::string("shared-memory model x accesses") + (load ? "" : " + the filling stores");
  c.counters = {{prefix + "instructions", accesses + fill, 0, "accesses of all warps"},
                {prefix + "wavefronts", accesses * cost.wavefronts + fill, 0, model},
                {prefix + "conflicts", accesses * cost.conflicts, 0, model}};
  c.prepare = [access, iterations](Context& context) {
    return prepare(context, access, iterations);
  };
  return c;
}

std::vector<Case> cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const Access op : {Access::load, Access::store})
    for (const int bytes : {4, 8, 16})
      for (const Pattern& pattern : patterns(op, bytes))
        result.push_back(make_case(pattern, device));
  return result;
}

const Probe probe{
    .name = "bank_conflicts",
    .question =
        "What does one warp access to shared memory cost, by width, pattern and active lanes?",
    .method =
        fmt::format("One block of {} warps per SM repeats one access pattern of 32 lane addresses, "
                    "{} independent accesses an iteration; the clocks from the first warp's start "
                    "to the last warp's end over the number of accesses give the clocks that one "
                    "access keeps the SM's data pipe busy, the median over all SMs. Loads are "
                    "checked by the sum of the words read, stores by reading the whole region "
                    "back. Wavefronts, conflicts and instructions by counter must equal the model.",
                    warps_per_block, accesses_per_iteration),
    .conclude = conclude,
    .cases = {cases}};

}  // namespace
}  // namespace fathom::bank_conflicts

FATHOM_PROBE(fathom::bank_conflicts::probe)
