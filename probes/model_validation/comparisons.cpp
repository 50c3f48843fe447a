#include <fmt/format.h>

#include <utility>

#include "probes/model_validation/campaigns.h"

namespace fathom::model_validation {
namespace {

/// The two counters of a comparison.
void add_counters(const Comparison& comparison, const std::string& model, Entry& entry) {
  const std::string& trials = entry.metric.unit;
  Counter sum{.role = comparison.name,
              .metric = comparison.source,
              .unit = comparison.unit,
              .value = {},
              .reason = comparison.reason,
              .expected = {},
              .expected_model = fmt::format("{}, summed over all {}", model, trials)};
  Counter mismatches{.role = comparison.name + "_mismatches",
                     .metric = comparison.source,
                     .unit = trials,
                     .value = {},
                     .reason = comparison.reason,
                     .expected = 0,
                     .expected_model = model};
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

/// Why not all trials were compared; empty if they were.
std::string incomplete(const CampaignResult& result, const std::string& trials) {
  if (result.trials == 0) return "there was no trial";
  for (const Comparison& comparison : result.comparisons) {
    if (!comparison.reason.empty())
      return fmt::format("{}: {}", comparison.name, comparison.reason);
    if (comparison.compared != result.trials)
      return fmt::format("{}: only {} of {} {}", comparison.name, comparison.compared,
                         result.trials, trials);
  }
  return result.comparisons.empty() ? "nothing was compared" : "";
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

std::optional<std::string> report(const CampaignResult& result, Entry& entry) {
  entry.extras["trials"] = static_cast<double>(result.trials);
  entry.iterations = result.trials;
  entry.telemetry.missing_reason = "nothing is timed here";
  if (result.wrong) return result.wrong;
  for (const Comparison& comparison : result.comparisons)
    add_counters(comparison, result.model, entry);
  if (const std::string why = incomplete(result, entry.metric.unit); !why.empty()) {
    // Not knowing must not look like agreement, even if all that was compared agrees.
    entry.verdict.status = VerdictStatus::failed;
    entry.verdict.reasons = {"not compared with the model; " + why};
    return std::nullopt;
  }
  const auto count = static_cast<double>(result.differing);
  entry.metric.value = count;
  entry.samples = {count};
  entry.interval = Interval{count, count, 1, "a count is exact"};
  entry.expected = Expectation{0, 0, result.model};
  return std::nullopt;
}

}  // namespace fathom::model_validation
