#include "gate/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "gate/check.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

/// Fewer runs than these have no history: two levels of three runs each.
constexpr std::size_t fewest_runs = 6;

/// The machine, of Fathom its GPU, and the suite.
std::string title_of(const RunMetrics& run) {
  std::string title = fact_of(run, run.fathom ? "gpu_name" : "host_name");
  if (const std::string card = fact_of(run, "gpu_uuid_hash"); !card.empty()) title += " " + card;
  if (!run.suite.empty()) title += ", suite " + run.suite;
  return title;
}

/// The changes over the runs of one machine and suite, whatever their software, the largest first.
std::string machine_text(const std::string& title, std::vector<RunMetrics> runs) {
  std::ranges::stable_sort(runs, {}, &RunMetrics::date);
  std::size_t metrics = 0;
  std::vector<HistoryChange> changes;
  for (const MetricSeries& series : series_of(runs, {})) {
    metrics += std::ranges::any_of(series.base, [](auto& one) { return one.value > 0; });
    std::ranges::move(changes_of(series), std::back_inserter(changes));
  }
  std::ranges::stable_sort(changes, std::greater<>(), &HistoryChange::size);
  std::string text = log_text(
      fmt::format("{}: {} of {}", title, counted(runs.size(), "run"), counted(metrics, "metric")));
  if (runs.size() < fewest_runs)
    text += fmt::format("; change points need {} runs", fewest_runs);
  else if (changes.empty())
    text += ", no change";
  text += "\n";
  const auto name_of = [&](std::size_t run) {
    return fmt::format("run {} ({})", run + 1, runs[run].date);
  };
  for (const HistoryChange& change : changes) {
    std::vector<std::string> beside;  // what of the identity changed then
    for (std::size_t run = std::max<std::size_t>(change.run, 1); run <= change.last_run; ++run)
      for (const Difference& other : differences_of(runs[run - 1], runs[run]))
        beside.push_back(fmt::format("{} (run {})", other.words(), run + 1));
    text += fmt::format(
        "  {}\n", log_text(fmt::format(
                      "{}  {}  {}  {}{}  {}  {} to {}  {}", change.worse ? "worse" : "better",
                      format_signed_percent(change.relative()), change.drift ? "drift" : "step",
                      name_of(change.run), change.drift ? " to " + name_of(change.last_run) : "",
                      change.metric, format_quantity(change.before, change.unit),
                      format_quantity(change.after, change.unit), fmt::join(beside, "; "))));
  }
  return text;
}

}  // namespace

std::vector<HistoryChange> changes_of(const MetricSeries& series) {
  std::vector<HistoryChange> changes;
  std::vector<double> values;
  std::vector<std::size_t> runs;
  const std::size_t earlier = series.base.size();
  for (std::size_t i = 0; i < earlier + series.head.size(); ++i) {
    const double value = (i < earlier ? series.base[i] : series.head[i - earlier]).value;
    if (!(value > 0)) continue;
    values.push_back(value);
    runs.push_back(i < earlier ? series.base_runs[i] : i);
  }
  if (values.size() < fewest_runs) return changes;
  // Relative to one of them, since squares of what a hostile file may hold would overflow.
  const double unit = std::ranges::min(values);
  constexpr double widest = 1e6;
  if (std::ranges::max(values) > widest * unit) return changes;
  // Ramps of the segmentation are lines in log2 x: this makes them lines in the run's number. As
  // far as doubles go.
  const double step = std::min(1.0, 1000.0 / static_cast<double>(values.size()));
  std::vector<CurvePoint> curve;
  for (std::size_t i = 0; i < values.size(); ++i)
    curve.push_back({std::exp2(step * static_cast<double>(i)), {values[i] / unit}});
  SegmentationOptions options;
  options.bootstraps = 0;
  const auto add = [&](const Regime& at, double before, double after, bool drift) {
    if (!(before > 0 && after > 0) ||
        std::abs(std::log(after / before)) < std::log1p(effect_that_counts))
      return;
    const bool worse = (after > before) == (series.better == Better::lower);
    changes.push_back({series.name, series.unit, runs[at.first], runs[drift ? at.last : at.first],
                       before * unit, after * unit, drift, worse});
  };
  const Regime* before = nullptr;
  const Segmentation cut = segment(curve, options);
  for (const Regime& regime : cut.regimes) {
    const bool plateau = regime.kind == Regime::Kind::plateau;
    if (regime.kind == Regime::Kind::ramp) add(regime, regime.first_y, regime.last_y, true);
    // Between two regimes: a step, unless a ramp leads there.
    if (plateau && before && before->kind == regime.kind)
      add(regime, before->level, regime.level, false);
    before = &regime;
  }
  return changes;
}

std::string history_text(std::vector<RunMetrics> runs) {
  std::map<std::string, std::vector<RunMetrics>> machines;
  for (RunMetrics& run : runs) machines[title_of(run)].push_back(std::move(run));
  std::string text;
  for (auto& [title, of_machine] : machines) text += machine_text(title, std::move(of_machine));
  return text;
}

}  // namespace fathom::gate
