#include "harness/campaign.h"

#include <fmt/format.h>

#include <chrono>

#include "harness/counters/catalogue.h"
#include "harness/counters/range_profiler.h"
#include "harness/host_timer.h"
#include "harness/runner.h"

namespace fathom {
namespace {

/// The two counters of a comparison.
void add_counters(const Campaign& campaign, const Comparison& comparison, Entry& entry) {
  Counter sum;
  sum.role = comparison.name;
  sum.metric = comparison.source;
  sum.unit = comparison.unit;
  sum.reason = comparison.reason;
  sum.expected_model = fmt::format("{}, summed over all {}", comparison.model, campaign.trials);
  Counter mismatches = sum;
  mismatches.role = comparison.name + "_mismatches";
  mismatches.unit = campaign.trials;
  mismatches.expected = 0;
  mismatches.expected_model = comparison.model;
  if (!comparison.examples.empty()) {
    mismatches.expected_model +=
        fmt::format("; the first that differ: {}", fmt::join(comparison.examples, "; "));
  }
  if (comparison.reason.empty()) {
    sum.value = comparison.found_sum;
    sum.expected = comparison.expected_sum;
    mismatches.value = static_cast<double>(comparison.differing);
  }
  entry.counters.push_back(std::move(sum));
  entry.counters.push_back(std::move(mismatches));
}

}  // namespace

bool Comparison::add(double found, double expected, const std::function<std::string()>& describe) {
  ++compared;
  found_sum += found;
  expected_sum += expected;
  if (found == expected) return true;
  ++differing;
  if (examples.size() < most_examples) {
    examples.push_back(
        fmt::format("{} has {:g} {} instead of {:g}", describe(), found, unit, expected));
  }
  return false;
}

void report_campaign(const Campaign& campaign, const CampaignResult& result,
                     const std::string& no_counters, Entry& entry) {
  entry.metric = {"mismatches", campaign.trials, Better::lower, std::nullopt};
  entry.extras.insert(result.extras.begin(), result.extras.end());
  entry.extras["trials"] = static_cast<double>(result.trials);
  entry.telemetry.missing_reason = "nothing is timed here";
  if (result.wrong) {
    entry.verdict.status = VerdictStatus::wrong_output;
    entry.verdict.reasons = {*result.wrong};
    return;
  }
  std::vector<Comparison> comparisons = result.comparisons;
  if (!no_counters.empty()) {
    for (const std::string& name : campaign.roles) {
      Comparison& missing = comparisons.emplace_back();
      missing.name = name;
      missing.unit = role(name).unit;
      missing.reason = no_counters;
    }
  }
  std::string incomplete = result.trials == 0 ? "there was no trial" : "";
  std::string models;
  for (const Comparison& comparison : comparisons) {
    add_counters(campaign, comparison, entry);
    if (comparison.reason.empty() && models.find(comparison.model) == std::string::npos)
      models += (models.empty() ? "" : ", ") + comparison.model;
    if (!incomplete.empty()) continue;
    if (!comparison.reason.empty()) {
      incomplete = fmt::format("{}: {}", comparison.name, comparison.reason);
    } else if (comparison.compared != result.trials) {
      incomplete = fmt::format("{}: only {} of {} {}", comparison.name, comparison.compared,
                               result.trials, campaign.trials);
    }
  }
  if (comparisons.empty() && incomplete.empty()) incomplete = "nothing was compared";
  if (!incomplete.empty()) {
    // Not knowing must not look like agreement, even if all that was compared agrees.
    entry.verdict.status = VerdictStatus::failed;
    entry.verdict.reasons = {"not compared with the model; " + incomplete};
    return;
  }
  const auto count = static_cast<double>(result.differing);
  entry.metric.value = count;
  entry.samples = {count};
  entry.interval = Interval{count, count, 1, "a count is exact"};
  entry.expected = Expectation{0, 0, models};
}

Runner::Wrong Runner::run_campaign(const Case& c, bool counters, const KeepGoing& keep_going,
                                   Entry& entry) {
  const auto& campaign = std::get<Campaign>(c.mode);
  const auto start = std::chrono::steady_clock::now();
  entry.metric = {"mismatches", campaign.trials, Better::lower, std::nullopt};
  CampaignResult result;
  std::string no_counters;
  if (!campaign.roles.empty()) {
    try {
      if (counters) {
        CounterSession session(device_.ordinal, campaign.roles);
        result = campaign.run(context_, &session, keep_going);
      } else {
        no_counters = "hardware counters were switched off (--no-counters)";
      }
    } catch (const CounterError& error) {
      if (error.code() == ExitCode::gpu_lost) throw;
      if (!counter_problem_) counter_problem_ = error;
      no_counters = error.what();
    }
  }
  if (campaign.roles.empty() || !no_counters.empty())
    result = campaign.run(context_, nullptr, keep_going);
  if (!result.wrong) result.wrong = context_.buffers().guards_intact();
  report_campaign(campaign, result, no_counters, entry);
  entry.iterations = result.trials;
  if (result.trials > 0)
    entry.real_time_s = seconds_since(start) / static_cast<double>(result.trials);
  return result.wrong;
}

}  // namespace fathom
