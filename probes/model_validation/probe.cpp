#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "harness/cases.h"
#include "harness/counters/range_profiler.h"
#include "models/global_memory.h"
#include "models/occupancy.h"
#include "models/shared_memory.h"
#include "probes/claims.h"
#include "probes/device/launch.h"
#include "probes/model_validation/campaigns.h"
#include "results/error.h"

namespace fathom::model_validation {
namespace {

using models::Access;
using models::WarpAccess;

/// Two spaces, two operations, five widths: what --patterns is divided among.
constexpr int warp_campaigns = 20;
constexpr std::size_t batch = 1024;

/// What a counter must read of one pattern; its role is "shared_load_" and the name.
struct Figure {
  const char* name;
  double (*predicted)(const WarpAccess&);
};
double executed(const WarpAccess& access) { return access.active_mask != 0 ? 1 : 0; }
constexpr Figure figures[][3] = {
    {{"wavefronts",
      [](const WarpAccess& a) -> double { return models::shared_cost(a).wavefronts; }},
     {"conflicts", [](const WarpAccess& a) -> double { return models::shared_cost(a).conflicts; }},
     {"instructions", executed}},
    {{"sectors", [](const WarpAccess& a) -> double { return models::global_cost(a).sectors; }},
     {"requests", [](const WarpAccess& a) -> double { return models::global_cost(a).requests; }},
     {"instructions", executed}}};

struct Instruction {
  Space space;
  Access op;
  int bytes;
  const Figure (&figures() const)[3] { return model_validation::figures[static_cast<int>(space)]; }
  std::vector<std::string> roles() const {
    std::vector<std::string> all;
    for (const Figure& figure : figures())
      all.push_back(fmt::format("{}_{}_{}", name(space), name(op), figure.name));
    return all;
  }
};

Trial trial_of(const WarpAccess& access, const Buffer& region) {
  Trial trial{};
  std::ranges::copy(access.address, trial.offset);
  trial.active_mask = access.active_mask;
  trial.region = region.data;
  return trial;
}

/// Fills the region in global memory with what loads are to find, or for stores to overwrite.
Buffer prepared_region(Context& context, Access op) {
  std::vector<std::uint32_t> words(global_region_bytes / 4, untouched);
  for (std::uint32_t i = 0; op == Access::load && i < words.size(); ++i) words[i] = word_value(i);
  return upload(context, "region", std::as_bytes(std::span(words)));
}

/// Runs every pattern with its outputs; nothing, or what is wrong with the first that is.
std::optional<std::string> check_outputs(Context& context, const Instruction& of,
                                         const std::vector<RandomPattern>& patterns,
                                         const Buffer& region) {
  const Buffer out = context.buffers().output("found", batch * found_words * 4);
  context.buffers().poison(out);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    Trial trial = trial_of(patterns[i].access, region);
    trial.fill_words = shared_region_bytes / 4;
    trial.out = out.as<std::uint32_t>() + i * found_words;
    launch_access(of.space, of.op, of.bytes, trial, context.stream());
    if (of.space == Space::global && of.op == Access::store)
      launch_global_check(of.bytes, trial, context.stream());
  }
  const auto found = copy_to_host<std::uint32_t>(out, context.stream());
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (const auto wrong =
            check_found(patterns[i].access, std::span(found).subspan(i * found_words, found_words)))
      return fmt::format("{} pattern: {}", patterns[i].kind, *wrong);
  return std::nullopt;
}

CampaignResult run(Context& context, CounterSession* counters, const std::string& no_counters,
                   const KeepGoing& keep_going, const Instruction& of) {
  const std::int64_t wanted = (context.option("patterns") + warp_campaigns - 1) / warp_campaigns;
  auto next_pattern = random_patterns(of.space, of.op, of.bytes, context.seed());
  const Buffer region = prepared_region(context, of.op);
  CampaignResult result{fmt::format("the {}-memory model", name(of.space)), {}};
  for (const std::string& counter : of.roles())
    result.comparisons.push_back({counter, "", role(counter).unit, no_counters});
  while (result.trials < wanted && keep_going()) {
    std::vector<RandomPattern> patterns(std::min<std::size_t>(batch, wanted - result.trials));
    std::ranges::generate(patterns, std::ref(next_pattern));
    result.wrong = check_outputs(context, of, patterns, region);
    if (result.wrong) return result;
    result.trials += static_cast<std::int64_t>(patterns.size());
    if (counters == nullptr) continue;
    // Every pattern by itself.
    const auto readings = counters->collect_batch({}, patterns.size(), [&](std::size_t i) {
      launch_access(of.space, of.op, of.bytes, trial_of(patterns[i].access, region),
                    context.stream());
    });
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const auto& [kind, access] = patterns[i];
      bool agrees = true;
      for (std::size_t r = 0; r < result.comparisons.size(); ++r) {
        Comparison& comparison = result.comparisons[r];
        const CounterReading& reading = readings[i].at(comparison.name);
        comparison.source = reading.metric;
        if (!reading.value)
          comparison.reason = reading.reason;
        else
          agrees &= comparison.add(*reading.value, of.figures()[r].predicted(access),
                                   [&] { return fmt::format("{} ({})", csv_row(access), kind); });
      }
      result.differing += agrees ? 0 : 1;
    }
  }
  result.wrong = context.buffers().guards_intact();
  return result;
}

Case warp_case(Space space, Access op, int bytes) {
  const Instruction of{space, op, bytes};
  Case c;
  c.name = fmt::format("{}/{}/bits:{}", name(space), name(op), 8 * bytes);
  c.axes = {{"model", fmt::format("{} memory", name(space))},
            {"operation", name(op)},
            {"bits", 8 * bytes}};
  c.suite = Suite::quick;
  c.metric = {"mismatches", "patterns", Better::lower, std::nullopt};
  c.mode = Campaign{of.roles(),
                    [of](Context& context, CounterSession* counters, const std::string& no_counters,
                         const KeepGoing& keep_going, Entry& entry) {
                      return report(run(context, counters, no_counters, keep_going, of), entry);
                    }};
  return c;
}

/// What the driver says of a kernel, once its dynamic shared memory may be as large as the device
/// allows beside the static.
cudaFuncAttributes attributes_of(Occupant kernel, const DeviceFacts& device) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  cudaFuncAttributes attributes{};
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, function));
  FATHOM_CUDA(cudaFuncSetAttribute(
      function, cudaFuncAttributeMaxDynamicSharedMemorySize,
      static_cast<int>(device.shared_bytes_per_block_max - attributes.sharedSizeBytes)));
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, function));
  return attributes;
}

models::KernelResources random_block(std::mt19937_64& random, const cudaFuncAttributes& function) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  models::KernelResources block{.registers_per_thread = function.numRegs,
                                .static_shared_bytes = static_cast<int>(function.sharedSizeBytes)};
  // Whole warps as most kernels have them, and any other number.
  block.threads_per_block = random() % 2 == 0 ? 32 * (1 + below(32)) : 1 + below(1024);
  const int most = function.maxDynamicSharedSizeBytes;
  // None, as much as there may be, or, twice as often, less.
  const int kind = below(4);
  block.dynamic_shared_bytes =
      kind == 0 ? 0 : below((kind == 1 ? most : std::min(most, 20 * 1024)) + 1);
  block.carveout_percent = random() % 3 == 0 ? below(101) : -1;
  return block;
}

int driver_blocks(Occupant kernel, const models::KernelResources& block) {
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   block.carveout_percent));
  return resident_blocks_of(kernel, block.threads_per_block,
                            static_cast<std::size_t>(block.dynamic_shared_bytes));
}

CampaignResult run_occupancy(Context& context, const KeepGoing& keep_going, Entry& entry) {
  const DeviceFacts& device = context.device();
  const models::SmLimits& sm = models::sm_limits(device.major, device.minor);
  std::vector<cudaFuncAttributes> attributes;
  for (const Occupant occupant : occupants) attributes.push_back(attributes_of(occupant, device));

  CampaignResult result{
      "the occupancy model",
      {{"driver_blocks", "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "blocks per SM"}}};
  std::mt19937_64 random(context.seed());
  double& launchable = entry.extras["launchable"];
  for (; result.trials < context.option("configurations") && keep_going(); ++result.trials) {
    const std::size_t occupant = random() % occupants.size();
    const models::KernelResources block = random_block(random, attributes[occupant]);
    const auto describe = [&] {
      return fmt::format(
          "a block of {} threads, {} registers, {} + {} bytes of shared memory, carve-out {}",
          block.threads_per_block, block.registers_per_thread, block.static_shared_bytes,
          block.dynamic_shared_bytes,
          block.carveout_percent < 0 ? "open" : fmt::format("{} %", block.carveout_percent));
    };
    const int model = models::occupancy(sm, block).blocks;
    const int driver = driver_blocks(occupants[occupant], block);
    result.differing += result.comparisons.front().add(driver, model, describe) ? 0 : 1;
    launchable += model > 0 ? 1 : 0;
  }
  return result;
}

Case occupancy_case() {
  Case c;
  c.name = "occupancy";
  c.axes = {{"model", "occupancy"}};
  c.suite = Suite::quick;
  c.metric = {"mismatches", "configurations", Better::lower, std::nullopt};
  c.mode = Campaign{{},
                    [](Context& context, CounterSession*, const std::string&,
                       const KeepGoing& keep_going, Entry& entry) {
                      try {
                        return report(run_occupancy(context, keep_going, entry), entry);
                      } catch (const std::invalid_argument& error) {  // an SM that no table has
                        throw Error(ExitCode::bad_input, error.what());
                      }
                    }};
  return c;
}

std::vector<Case> cases(const DeviceFacts&) {
  std::vector<Case> result;
  for (const Space space : {Space::shared, Space::global})
    for (const Access op : {Access::load, Access::store})
      for (const int bytes : {1, 2, 4, 8, 16}) result.push_back(warp_case(space, op, bytes));
  result.push_back(occupancy_case());
  return result;
}

const Probe probe{
    .name = "model_validation",
    .question =
        "Do the models of shared memory, global memory and occupancy predict this GPU exactly, "
        "whatever the pattern?",
    .method =
        "Random warp patterns, many with inactive lanes: strides, broadcasts, permutations, tiles, "
        "structures, few banks, scattered words. Each is one memory instruction of one warp in a "
        "launch of its own, whose addresses come from the constant bank: the counters are its "
        "alone, and must equal the model. What each lane read or stored is checked in a separate "
        "launch. Random block sizes, registers, shared memory and carve-outs go to the occupancy "
        "model and to the driver. The same seed gives the same patterns.",
    .conclude = conclude,
    .cases = {cases},
    // A pattern takes about a millisecond, most of it the profiler's.
    .options = {
        {"patterns", "Random warp patterns in all, shared equally by the cases; about 900 a second",
         2'000, 20'000, 1, 100'000'000},
        {"configurations", "Random configurations of the occupancy model", 10'000, 10'000, 1,
         100'000'000}}};

}  // namespace
}  // namespace fathom::model_validation

FATHOM_PROBE(fathom::model_validation::probe)
