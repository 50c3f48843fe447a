#include "gate/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "gate/outputs.h"
#include "reports/markdown.h"
#include "results/files.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

/// Fewer runs than these have no history: two levels of three runs each.
constexpr std::size_t fewest_runs = 6;

MachineHistory history_of_machine(std::vector<RunMetrics> runs) {
  std::ranges::stable_sort(runs, {}, &RunMetrics::date);
  const RunMetrics& first = runs.front();
  MachineHistory history{.title = fact_of(first, first.fathom ? "gpu_name" : "host_name"),
                         .runs = runs.size()};
  if (const std::string card = fact_of(first, "gpu_uuid_hash"); !card.empty())
    history.title += " " + card;
  if (!first.suite.empty()) history.title += ", suite " + first.suite;
  const auto name_of = [&](std::size_t run) {
    return fmt::format("run {} ({})", run + 1, runs[run].date);
  };
  for (const MetricSeries& series : series_of(runs, {})) {
    history.metrics += std::ranges::any_of(series.base, [](auto& one) { return one.value > 0; });
    for (HistoryChange& change : changes_of(series)) {
      const std::size_t last = change.drift ? change.last_run : change.run;
      change.when = name_of(change.run) + (change.drift ? " to " + name_of(last) : "");
      std::vector<std::string> beside;
      for (std::size_t run = std::max<std::size_t>(change.run, 1); run <= last; ++run)
        for (const Difference& other : differences_of(runs[run - 1], runs[run]))
          beside.push_back(fmt::format("{} (run {})", other.words(), run + 1));
      change.beside = fmt::format("{}", fmt::join(beside, "; "));
      history.changes.push_back(std::move(change));
    }
  }
  std::ranges::stable_sort(history.changes, std::greater<>(), &HistoryChange::size);
  return history;
}

/// "30 runs of 229 metrics".
std::string extent_of(const MachineHistory& history) {
  return counted(history.runs, "run") + " of " + counted(history.metrics, "metric");
}

/// A row of a table.
std::vector<std::string> cells_of(const HistoryChange& change) {
  return {change.worse ? "worse" : "better",
          format_signed_percent(change.relative()),
          change.drift ? "drift" : "step",
          change.when,
          change.metric,
          fmt::format("{} to {}", format_quantity(change.before, change.unit),
                      format_quantity(change.after, change.unit)),
          change.beside};
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
    changes.push_back({series.name, series.unit, runs[at.first], runs[at.last], before * unit,
                       after * unit, drift, worse});
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

std::vector<MachineHistory> history_of(std::vector<RunMetrics> runs) {
  std::map<std::vector<std::string>, std::vector<RunMetrics>> machines;
  for (RunMetrics& run : runs)
    machines[{run.fathom ? "fathom" : "", fact_of(run, run.fathom ? "gpu_name" : "host_name"),
              fact_of(run, "gpu_uuid_hash"), run.suite}]
        .push_back(std::move(run));
  std::vector<MachineHistory> histories;
  for (auto& [machine, of_machine] : machines)
    histories.push_back(history_of_machine(std::move(of_machine)));
  return histories;
}

std::string history_text(const std::vector<MachineHistory>& histories) {
  std::string text;
  for (const MachineHistory& history : histories) {
    text += log_text(fmt::format("{}: {}", history.title, extent_of(history)));
    if (history.runs < fewest_runs)
      text += fmt::format("; change points need {} runs", fewest_runs);
    else if (history.changes.empty())
      text += ", no change";
    text += "\n";
    for (const HistoryChange& change : history.changes)
      text += fmt::format("  {}\n", log_text(fmt::format("{}", fmt::join(cells_of(change), "  "))));
  }
  return text;
}

std::filesystem::path write_history(const std::vector<MachineHistory>& histories,
                                    const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_write(folder, error.value());
  reports::Page page(false);
  page.heading(1, "History", "history");
  page.paragraph(
      "Change points over the runs of each machine, by penalised segmentation. Advisory: with many "
      "metrics a few are chance. " +
      reports::explore_link("Every metric by date", "view=history") +
      fmt::format(", of the newest {} runs at most.", most_history_page_runs));
  for (const MachineHistory& history : histories) {
    page.heading(2, reports::escape_text(history.title), "machine");
    page.paragraph(
        fmt::format("{}, {}.", extent_of(history), counted(history.changes.size(), "change")));
    reports::Table table({{"Direction"},
                          {"Change", reports::Align::right},
                          {"Kind"},
                          {"When"},
                          {"Metric"},
                          {"From and to"},
                          {"What else changed"}});
    for (const HistoryChange& change : history.changes) {
      std::vector<std::string> row = cells_of(change);
      for (std::string& cell : row) cell = reports::escape_text(cell);
      row[4] = reports::explore_link(reports::code(change.metric),
                                     "view=history&entry=" + reports::url_encoded(change.metric));
      table.add_row(std::move(row));
    }
    page.table("Changes", table);
  }
  const std::filesystem::path file = folder / "README.md";
  write_file_atomically(file, page.text());
  return file;
}

}  // namespace fathom::gate
