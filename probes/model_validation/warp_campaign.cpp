#include "probes/model_validation/campaigns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "harness/counters/range_profiler.h"
#include "harness/cuda_check.h"
#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "probes/model_validation/kernels.h"

namespace fathom::model_validation {
namespace {

using models::Access;
using models::WarpAccess;

/// Patterns that are checked and counted together.
constexpr std::size_t batch = 1024;

/// What is tested: one instruction.
struct Instruction {
  Space space;
  Access op;
  int bytes;

  /// The counters' roles, in the order of `predicted`.
  std::vector<std::string> roles() const {
    const std::string prefix = fmt::format("{}_{}_", name(space), name(op));
    if (space == Space::shared)
      return {prefix + "wavefronts", prefix + "conflicts", prefix + "instructions"};
    return {prefix + "sectors", prefix + "requests", prefix + "instructions"};
  }

  std::array<double, 3> predicted(const WarpAccess& access) const {
    const double instructions = access.active_mask != 0 ? 1 : 0;
    if (space == Space::shared) {
      const models::SharedCost cost = models::shared_cost(access);
      return {static_cast<double>(cost.wavefronts), static_cast<double>(cost.conflicts),
              instructions};
    }
    const models::GlobalCost cost = models::global_cost(access);
    return {static_cast<double>(cost.sectors), static_cast<double>(cost.requests), instructions};
  }

  void launch(const Trial& trial, cudaStream_t stream) const {
    launch_access(space, op, bytes, trial, stream);
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
std::optional<std::string> check_outputs(Context& context, const Instruction& instruction,
                                         const std::vector<RandomPattern>& patterns,
                                         const Buffer& region) {
  cudaStream_t stream = context.stream();
  const Buffer out = context.buffers().output("found", batch * found_words * 4);
  context.buffers().poison(out);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    Trial trial = trial_of(patterns[i].access, region);
    trial.fill_words = shared_region_bytes / 4;
    trial.out = out.as<std::uint32_t>() + i * found_words;
    instruction.launch(trial, stream);
    if (instruction.space == Space::global && instruction.op == Access::store)
      launch_global_check(instruction.bytes, trial, stream);
  }
  const auto found = copy_to_host<std::uint32_t>(out, stream);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const auto wrong =
        check_found(patterns[i].access, std::span(found).subspan(i * found_words, found_words));
    if (wrong) return fmt::format("{} pattern: {}", patterns[i].kind, *wrong);
  }
  return std::nullopt;
}

/// Counts every pattern by itself and compares; adds what differs to the result.
void compare_counters(Context& context, CounterSession& counters, const Instruction& instruction,
                      const std::vector<RandomPattern>& patterns, const Buffer& region,
                      CampaignResult& result) {
  const auto readings = counters.collect_batch({}, patterns.size(), [&](std::size_t i) {
    instruction.launch(trial_of(patterns[i].access, region), context.stream());
  });
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const WarpAccess& access = patterns[i].access;
    const auto expected = instruction.predicted(access);
    bool agrees = true;
    for (std::size_t r = 0; r < result.comparisons.size(); ++r) {
      Comparison& comparison = result.comparisons[r];
      const CounterReading& reading = readings[i].at(comparison.name);
      comparison.source = reading.metric;
      if (!reading.value) {
        comparison.reason = reading.reason;
        continue;
      }
      agrees &= comparison.add(*reading.value, expected[r], [&] {
        return fmt::format("{} ({})", csv_row(access), patterns[i].kind);
      });
    }
    result.differing += agrees ? 0 : 1;
  }
}

CampaignResult run(Context& context, CounterSession* counters, const std::string& no_counters,
                   const KeepGoing& keep_going, const Instruction& instruction) {
  const std::int64_t wanted = (context.option("patterns") + warp_campaigns - 1) / warp_campaigns;
  auto next_pattern =
      random_patterns(instruction.space, instruction.op, instruction.bytes, context.seed());
  const Buffer region = prepared_region(context, instruction.op);
  CampaignResult result{fmt::format("the {}-memory model", name(instruction.space)), {}};
  for (const std::string& figure : instruction.roles())
    result.comparisons.push_back({figure, "", role(figure).unit, no_counters});
  while (result.trials < wanted && keep_going()) {
    std::vector<RandomPattern> patterns(std::min<std::size_t>(batch, wanted - result.trials));
    std::ranges::generate(patterns, std::ref(next_pattern));
    result.wrong = check_outputs(context, instruction, patterns, region);
    if (result.wrong) return result;
    if (counters != nullptr)
      compare_counters(context, *counters, instruction, patterns, region, result);
    result.trials += static_cast<std::int64_t>(patterns.size());
  }
  result.wrong = context.buffers().guards_intact();
  return result;
}

}  // namespace

Case warp_case(Space space, Access op, int bytes) {
  const Instruction instruction{space, op, bytes};
  Case c;
  c.name = fmt::format("{}/{}/bits:{}", name(space), name(op), 8 * bytes);
  c.axes = {{"model", fmt::format("{} memory", name(space))},
            {"operation", name(op)},
            {"bits", std::int64_t{8} * bytes}};
  c.suite = Suite::quick;
  c.metric = {"mismatches", "patterns", Better::lower, std::nullopt};
  c.mode =
      Campaign{instruction.roles(), [instruction](Context& context, CounterSession* counters,
                                                  const std::string& no_counters,
                                                  const KeepGoing& keep_going, Entry& entry) {
                 return report(run(context, counters, no_counters, keep_going, instruction), entry);
               }};
  return c;
}

}  // namespace fathom::model_validation
