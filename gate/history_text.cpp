#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "gate/history.h"
#include "gate/history_words.h"
#include "gate/log_text.h"
#include "results/format.h"

namespace fathom::gate {

std::string title_of(const MachineHistory& history) {
  return history.machine + (history.suite.empty() ? "" : ", suite " + history.suite);
}

std::string extent_of(const MachineHistory& history) {
  return counted(history.dates.size(), "run") + " of " + counted(history.metrics, "metric");
}

namespace {

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

}  // namespace

std::vector<std::string> history_cells(const MachineHistory& history, const HistoryChange& change) {
  return {change.worse ? "worse" : "better",
          format_signed_percent(change.relative()),
          change.drift ? "drift" : "step",
          when(history, change),
          change.metric,
          fmt::format("{} to {}", format_quantity(change.before, change.unit),
                      format_quantity(change.after, change.unit)),
          company(history, change)};
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
      text += fmt::format(
          "  {}\n", log_text(fmt::format("{}", fmt::join(history_cells(history, change), "  "))));
  }
  return text;
}

}  // namespace fathom::gate
