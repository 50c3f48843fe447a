#include "probes/claims.h"

#include <fmt/format.h>

#include "results/format.h"
#include "results/query.h"

namespace fathom::model_validation {
namespace {

struct Tally {
  double trials = 0, differing = 0;
  std::size_t not_compared = 0;  ///< entries
};

Tally tally(std::span<const Entry> entries, const char* model) {
  Tally result;
  for (const Entry* entry : select(entries, {{"model", model}})) {
    const auto trials = entry->extras.find("trials");
    if (!entry->metric.value || trials == entry->extras.end()) {
      ++result.not_compared;
      continue;
    }
    result.trials += trials->second;
    result.differing += *entry->metric.value;
  }
  return result;
}

std::string sentence(const Tally& t, const char* trials, const char* what) {
  std::string text;
  if (t.trials > 0) {
    text = fmt::format("{} of {} {} differ from {}", format_count(t.differing),
                       format_count(t.trials), trials, what);
  }
  if (t.not_compared > 0) {
    text += fmt::format("{}{} {} could not be compared with {}", text.empty() ? "" : "; ",
                        t.not_compared, t.not_compared == 1 ? "case" : "cases", what);
  }
  return text;
}

std::vector<View> views() {
  return {
      {.title = "Every campaign",
       .columns = {"model", "operation", "bits", "extra:trials", "metric", "expected", "verdict"}},
      {.title = "Occupancy",
       .note = "Sums of resident blocks per SM, and configurations that differ from the model.",
       .where = {{"model", {"occupancy"}}},
       .columns = {"extra:trials", "extra:launchable", "extra:register_counts",
                   "counter:toolkit_blocks", "counter:toolkit_blocks_mismatches",
                   "counter:driver_blocks", "counter:driver_blocks_mismatches"}}};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.views = views();
  for (const std::string& part :
       {sentence(tally(entries, "shared memory"), "random warp patterns",
                 "the shared-memory model"),
        sentence(tally(entries, "global memory"), "random warp patterns",
                 "the global-memory model"),
        sentence(tally(entries, "occupancy"), "random configurations", "the occupancy model")})
    if (!part.empty()) findings.answer += (findings.answer.empty() ? "" : "; ") + part;
  if (!findings.answer.empty()) findings.answer += ".";
  return findings;
}

}  // namespace fathom::model_validation
