#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gate/history.h"
#include "gate/outputs.h"
#include "reports/markdown.h"
#include "results/atomic_file.h"
#include "results/format.h"

namespace fathom::gate {
namespace {

namespace fs = std::filesystem;

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

fs::path write_history(const std::vector<MachineHistory>& histories,
                       const std::string& every_metric, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
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
  const fs::path file = folder / "README.md";
  write_file_atomically(file, page.text());
  write_file_atomically(folder / "index.html", every_metric);
  return file;
}

}  // namespace fathom::gate
