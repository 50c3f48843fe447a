#include <fmt/format.h>

#include <utility>

#include "probes/model_validation/campaigns.h"

namespace fathom::model_validation {

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
  const std::string& trials = entry.metric.unit;
  entry.extras["trials"] = static_cast<double>(result.trials);
  entry.iterations = result.trials;
  if (result.wrong) return result.wrong;
  bool all_compared = true;
  for (const Comparison& c : result.comparisons) {
    Counter sum{c.name, c.source, c.unit, {}, c.reason, {}, 0, result.model};
    Counter mismatches{c.name + "_mismatches", c.source, trials, {}, c.reason, 0, 0, result.model};
    sum.expected_model += ", summed over all " + trials;
    if (!c.examples.empty())
      mismatches.expected_model +=
          fmt::format("; the first that differ: {}", fmt::join(c.examples, "; "));
    if (c.reason.empty()) {
      sum.value = c.found_sum;
      sum.expected = c.expected_sum;
      mismatches.value = static_cast<double>(c.differing);
    }
    entry.counters.push_back(std::move(sum));
    entry.counters.push_back(std::move(mismatches));
    // Not knowing must not look like agreement, even if all that was compared agrees.
    if (c.compared == result.trials && c.compared > 0) continue;
    all_compared = false;
    if (!c.reason.empty()) continue;  // not measured, as the counters say: nothing has failed
    entry.verdict.status = VerdictStatus::failed;
    entry.verdict.reasons = {fmt::format("only {} of {} {} were compared with the model",
                                         c.compared, result.trials, trials)};
  }
  if (!all_compared) return std::nullopt;
  entry.metric.value = static_cast<double>(result.differing);
  entry.expected = Expectation{0, 0, result.model};
  return std::nullopt;
}

}  // namespace fathom::model_validation
