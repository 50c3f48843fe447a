#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "harness/counters/range_profiler.h"
#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "probes/model_validation/campaigns.h"
#include "probes/model_validation/kernels.h"

namespace fathom::model_validation {
namespace {

using models::Access;
using models::WarpAccess;

/// Patterns that are checked and counted together.
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

/// What is tested: one instruction.
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

}  // namespace

Case warp_case(Space space, Access op, int bytes) {
  const Instruction of{space, op, bytes};
  Case c;
  c.name = fmt::format("{}/{}/bits:{}", name(space), name(op), 8 * bytes);
  c.axes = {{"model", fmt::format("{} memory", name(space))},
            {"operation", name(op)},
            {"bits", std::int64_t{8} * bytes}};
  c.suite = Suite::quick;
  c.metric = {"mismatches", "patterns", Better::lower, std::nullopt};
  c.mode = Campaign{of.roles(),
                    [of](Context& context, CounterSession* counters, const std::string& no_counters,
                         const KeepGoing& keep_going, Entry& entry) {
                      return report(run(context, counters, no_counters, keep_going, of), entry);
                    }};
  return c;
}

}  // namespace fathom::model_validation
