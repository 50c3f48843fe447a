#include "gate/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include "gate/identity.h"
#include "gate/outputs.h"
#include "reports/markdown.h"
#include "results/atomic_file.h"
#include "results/format.h"
#include "results/segmentation.h"

namespace fathom::gate {
namespace {

using Machine = std::tuple<bool, std::string, std::string, std::string>;

Machine machine_of(const RunMetrics& run) {
  const std::string name = fact_of(run, run.fathom ? "gpu_name" : "host_name");
  return {run.fathom, name, fact_of(run, "gpu_uuid_hash"), run.suite};
}

/// Ramps of the segmentation are lines in log2 x: this makes them lines in the run's number. As far
/// as doubles go.
double place_of(std::size_t index, std::size_t count) {
  const double step = std::min(1.0, 1000.0 / static_cast<double>(count));
  return std::exp2(step * static_cast<double>(index));
}

MachineHistory history_of_machine(std::vector<const RunMetrics*> runs, double effect) {
  std::ranges::stable_sort(
      runs, {}, [](const RunMetrics* run) -> auto& { return run->date; });
  MachineHistory history;
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<MetricCourse> courses;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    history.dates.push_back(runs[i]->date);
    std::vector<std::string>& changes = history.identity_changes.emplace_back();
    if (i > 0)
      for (const auto& [fact, before, after] : changed_facts(*runs[i - 1], *runs[i]))
        changes.push_back(fmt::format("{}: from {} to {}", fact, before, after));
    for (const MetricValue& metric : runs[i]->metrics) {
      if (!metric.problem.empty() || !(metric.value > 0)) continue;
      const auto [found, is_new] = places.try_emplace(metric.name, courses.size());
      if (is_new) courses.push_back({&metric});
      courses[found->second].add(metric.value, i);
    }
  }
  history.metrics = courses.size();
  for (const MetricCourse& course : courses)
    std::ranges::move(changes_of(course, effect), std::back_inserter(history.changes));
  std::ranges::stable_sort(history.changes, std::greater<>(), &HistoryChange::size);
  return history;
}

std::string title_of(const MachineHistory& history) {
  return history.machine + (history.suite.empty() ? "" : ", suite " + history.suite);
}

/// "30 runs of 229 metrics".
std::string extent_of(const MachineHistory& history) {
  return counted(history.dates.size(), "run") + " of " + counted(history.metrics, "metric");
}

/// What else changed with that run; of a drift also with which.
std::string company(const MachineHistory& history, const HistoryChange& change) {
  std::vector<std::string> all;
  for (std::size_t run = change.run; run <= (change.drift ? change.last_run : change.run); ++run)
    for (const std::string& other : history.identity_changes[run])
      all.push_back(change.drift ? fmt::format("{} (run {})", other, run + 1) : other);
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string when(const MachineHistory& history, const HistoryChange& change) {
  const std::string from = fmt::format("run {} ({})", change.run + 1, history.dates[change.run]);
  if (!change.drift) return from;
  return fmt::format("{} to {} ({})", from, change.last_run + 1, history.dates[change.last_run]);
}

/// Direction, change, kind, when, metric, from and to, what else changed: a row of a table.
std::vector<std::string> cells_of(const MachineHistory& history, const HistoryChange& change) {
  return {change.worse ? "worse" : "better",
          format_signed_percent(change.relative()),
          change.drift ? "drift" : "step",
          when(history, change),
          change.metric,
          fmt::format("{} to {}", format_quantity(change.before, change.unit),
                      format_quantity(change.after, change.unit)),
          company(history, change)};
}

}  // namespace

std::vector<HistoryChange> changes_of(const MetricCourse& course, double effect) {
  std::vector<HistoryChange> changes;
  if (course.values.size() < fewest_history_runs) return changes;
  // Relative to one of them, since squares of what a hostile file may hold would overflow.
  const auto [unit, high] = std::ranges::minmax(course.values);
  constexpr double widest = 1e6;
  if (high > widest * unit) return changes;
  std::vector<CurvePoint> curve;
  for (std::size_t i = 0; i < course.values.size(); ++i)
    curve.push_back({place_of(i, course.values.size()), {course.values[i] / unit}});
  SegmentationOptions options;
  options.bootstraps = 0;
  const Segmentation cut = segment(curve, options);
  const auto add = [&](std::size_t first, std::size_t last, double before, double after,
                       bool drift) {
    if (!(before > 0 && after > 0) || std::abs(std::log(after / before)) < std::log1p(effect))
      return;
    const bool worse = (after > before) == (course.first->better == Better::lower);
    changes.push_back({course.first->name, course.first->unit, course.runs[first], before, after,
                       drift, worse, course.runs[last]});
  };
  for (std::size_t i = 0; i < cut.regimes.size(); ++i) {
    const Regime& regime = cut.regimes[i];
    if (regime.kind == Regime::Kind::ramp)
      add(regime.first, regime.last, regime.first_y * unit, regime.last_y * unit, true);
    if (i == 0) continue;
    // Between two regimes: a step, unless a ramp leads there.
    const Regime& before = cut.regimes[i - 1];
    if (before.kind == Regime::Kind::plateau && regime.kind == Regime::Kind::plateau)
      add(regime.first, regime.last, before.level * unit, regime.level * unit, false);
  }
  return changes;
}

std::vector<MachineHistory> history_of(const std::vector<RunMetrics>& runs, double effect) {
  std::map<Machine, std::vector<const RunMetrics*>> machines;
  for (const RunMetrics& run : runs) machines[machine_of(run)].push_back(&run);
  std::vector<MachineHistory> histories;
  for (auto& [machine, of_machine] : machines) {
    histories.push_back(history_of_machine(std::move(of_machine), effect));
    const std::string& uuid = std::get<2>(machine);
    histories.back().machine = std::get<1>(machine) + (uuid.empty() ? "" : " " + uuid);
    histories.back().suite = std::get<3>(machine);
  }
  return histories;
}

std::string history_text(const std::vector<MachineHistory>& histories) {
  std::string text;
  for (const MachineHistory& history : histories) {
    text += log_text(fmt::format("{}: {}", title_of(history), extent_of(history)));
    if (history.dates.size() < fewest_history_runs)
      text += fmt::format("; change points need {} runs", fewest_history_runs);
    else if (history.changes.empty())
      text += ", no change";
    text += "\n";
    for (const HistoryChange& change : history.changes)
      text += fmt::format("  {}\n",
                          log_text(fmt::format("{}", fmt::join(cells_of(history, change), "  "))));
  }
  return text;
}

std::filesystem::path write_history(const std::vector<MachineHistory>& histories,
                                    const std::string& every_metric,
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
    page.heading(2, reports::escape_text(title_of(history)), "machine");
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
      std::vector<std::string> row = cells_of(history, change);
      for (std::string& cell : row) cell = reports::escape_text(cell);
      row[4] = reports::explore_link(reports::code(change.metric),
                                     "view=history&entry=" + reports::url_encoded(change.metric));
      table.add_row(std::move(row));
    }
    page.table("Changes", table);
  }
  const std::filesystem::path file = folder / "README.md";
  write_file_atomically(file, page.text());
  write_file_atomically(folder / "index.html", every_metric);
  return file;
}

}  // namespace fathom::gate
