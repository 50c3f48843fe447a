#include "probes/claims.h"

#include <fmt/format.h>

#include <functional>

#include "results/format.h"
#include "results/rows.h"

namespace fathom::model_validation {
namespace {

std::string sentence(std::span<const Entry> entries, const char* model, const char* trials,
                     const char* what) {
  const auto compared = [](const Entry& e) {
    return e.metric.value && e.extras.contains("trials");
  };
  const auto sum = [&](const char* name, Figure figure) {
    return Quantity{name, {{"model", model}}, Pick::sum, std::move(figure), "", compared};
  };
  const Figures f({{sum("trials", extra_of("trials")),
                    sum("differing", metric_of),
                    {"left", {{"model", model}}, Pick::sum, passes(std::not_fn(compared))}}},
                  entries);
  std::string text;
  if (f["trials"] > 0) {
    text = fmt::format("{} of {} {} differ from {}", format_count(f["differing"]),
                       format_count(f["trials"]), trials, what);
  }
  if (f["left"] > 0) {
    text += fmt::format("{}{} {} could not be compared with {}", text.empty() ? "" : "; ",
                        f["left"], f["left"] == 1 ? "case" : "cases", what);
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
       .columns = {"extra:trials", "extra:launchable", "counter:driver_blocks",
                   "counter:driver_blocks_mismatches"}}};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.views = views();
  for (const std::string& part :
       {sentence(entries, "shared memory", "random warp patterns", "the shared-memory model"),
        sentence(entries, "global memory", "random warp patterns", "the global-memory model"),
        sentence(entries, "occupancy", "random configurations", "the occupancy model")})
    if (!part.empty()) findings.answer += (findings.answer.empty() ? "" : "; ") + part;
  if (!findings.answer.empty()) findings.answer += ".";
  return findings;
}

}  // namespace fathom::model_validation
