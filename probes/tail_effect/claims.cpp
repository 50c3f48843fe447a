#include "probes/claims.h"

#include <fmt/format.h>

#include <cmath>

#include "results/query.h"

namespace fathom::tail_effect {
namespace {

/// A step counts as a step if the two times agree to this.
constexpr double same_time = 0.05;

const Entry* at(std::span<const Entry> entries, const char* kind, double waves) {
  return find_measured(entries, {{"block kind", kind}, {"waves", waves}});
}

/// Time at 1.5 waves over that at 2: 1 for a staircase, 0.75 for proportional time.
std::optional<double> step_ratio(std::span<const Entry> entries, const char* kind) {
  const Entry* half = at(entries, kind, 1.5);
  const Entry* whole = at(entries, kind, 2.0);
  if (half == nullptr || whole == nullptr) return std::nullopt;
  return *half->metric.value / *whole->metric.value;
}

View staircase_plot(const char* kind) {
  View view;
  view.kind = View::Kind::plot;
  view.title = fmt::format("Time against waves, {} blocks", kind);
  view.where = {{"block kind", {kind}}};
  view.x = "waves";
  view.x_label = "Grid (waves)";
  view.y_label = "Time";
  view.series = {"block kind"};
  return view;
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  Claim claim = make_claim("T1", "Time grows in steps of one wave: 1.5 waves cost as much as 2",
                           "staircase, efficiency = waves / ceil(waves)");
  const auto latency = step_ratio(entries, "latency-bound");
  const auto throughput = step_ratio(entries, "throughput-bound");
  const auto memory = step_ratio(entries, "memory-bound");
  if (latency) {
    const bool stairs = std::abs(*latency - 1) <= same_time;
    const auto says = [](const std::optional<double>& ratio) {
      return ratio ? fmt::format("{:.3f}", *ratio) : std::string("(not measured)");
    };
    claim.verdict = stairs ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
    claim.figure = fmt::format(
        "1.5 waves over 2 waves: {} for latency-bound blocks; {} where blocks share the FMA pipes and "
        "{} where they share DRAM (0.750 would be proportional)",
        says(latency), says(throughput), says(memory));
    for (const char* kind : {"latency-bound", "throughput-bound", "memory-bound"}) {
      for (const double waves : {1.5, 2.0}) {
        if (const Entry* entry = at(entries, kind, waves)) claim.evidence.push_back(entry->name);
      }
    }
    findings.answer = fmt::format(
        "A grid of 1.5 waves takes {:.1f} % of the time of 2 waves where a block's time does not depend "
        "on its neighbours, {} % where blocks share the FMA pipes, {} % where they share DRAM.",
        100 * *latency, throughput ? fmt::format("{:.1f}", 100 * *throughput) : "?",
        memory ? fmt::format("{:.1f}", 100 * *memory) : "?");
  }
  findings.claims = {std::move(claim)};
  for (const char* kind : {"latency-bound", "throughput-bound", "memory-bound"}) {
    findings.views.push_back(staircase_plot(kind));
  }
  View table;
  table.title = "Every grid";
  table.columns = {"block kind",  "waves", "blocks",  "metric", "expected", "bound",
                   "extra:wave_efficiency", "counter:achieved_occupancy", "verdict"};
  findings.views.push_back(std::move(table));
  return findings;
}

}  // namespace fathom::tail_effect
