#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gate/history.h"
#include "gate/history_words.h"
#include "reports/markdown.h"
#include "reports/plot.h"
#include "results/atomic_file.h"
#include "results/error.h"

namespace fathom::gate {
namespace {

namespace fs = std::filesystem;

/// Lines that a picture can carry.
constexpr std::size_t most_drawn = 6;

/// Each metric with a change, in percent of its first value, against the run's number.
std::optional<Picture> picture(const MachineHistory& history, const fs::path& folder,
                               const std::string& stem) {
  std::vector<std::string> drawn;
  View view;
  view.kind = View::Kind::plot;
  view.title = "Largest changes, " + title_of(history);
  view.x = "run";
  view.x_label = "run";
  view.y_label = "of the first run";
  view.y_from_zero = false;
  view.series = {"metric"};
  std::set<std::size_t> marked;
  for (const HistoryChange& change : history.changes) {
    if (std::find(drawn.begin(), drawn.end(), change.metric) == drawn.end()) {
      if (drawn.size() == most_drawn) continue;
      drawn.push_back(change.metric);
    }
    if (!change.drift && marked.insert(change.run).second)
      view.markers.push_back({static_cast<double>(change.run) + 0.5, ""});
  }
  std::sort(view.markers.begin(), view.markers.end(),
            [](const PlotMarker& a, const PlotMarker& b) { return a.x < b.x; });
  std::vector<Entry> entries;
  for (const auto& [name, values] : history.values) {
    if (std::find(drawn.begin(), drawn.end(), name) == drawn.end()) continue;
    const auto first = std::find_if(values.begin(), values.end(), [](double v) { return v > 0; });
    for (std::size_t run = 0; run < values.size(); ++run) {
      if (!(values[run] > 0)) continue;
      Entry entry;
      entry.name = fmt::format("{}/{}", name, run + 1);
      entry.probe = "history";
      entry.axes = {{"metric", name}, {"run", static_cast<std::int64_t>(run + 1)}};
      entry.metric = {"of the first run", "%", Better::higher, 100 * values[run] / *first};
      entries.push_back(std::move(entry));
    }
  }
  return draw_plot(view, entries, folder, stem, Source::measured);
}

}  // namespace

fs::path write_history(const std::vector<MachineHistory>& histories, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ExitCode::output_unwritable,
                fmt::format("{} cannot be made ({}): choose another folder with --out.",
                            folder.string(), error.message()));
  reports::Page page(false);
  page.heading(1, "History", "history");
  page.paragraph(
      "Change points over the runs of each machine, by penalised segmentation. Advisory: with many "
      "metrics a few are chance.");
  if (const std::string problem = gnuplot_problem(); !problem.empty())
    page.paragraph(reports::escape_text("No pictures: " + problem));
  for (std::size_t i = 0; i < histories.size(); ++i) {
    const MachineHistory& history = histories[i];
    page.heading(2, reports::escape_text(title_of(history)), "machine");
    page.paragraph(fmt::format("{}, {} change{}.", extent_of(history), history.changes.size(),
                               history.changes.size() == 1 ? "" : "s"));
    if (history.changes.empty()) continue;
    if (const auto drawn = picture(history, folder, fmt::format("history-{}", i + 1)))
      page.picture(drawn->light, drawn->dark, drawn->alt);
    reports::Table table({{"Direction"},
                          {"Change", reports::Align::right},
                          {"Kind"},
                          {"When"},
                          {"Metric"},
                          {"From and to"},
                          {"What else changed"}});
    for (const HistoryChange& change : history.changes) {
      std::vector<std::string> row = history_cells(history, change);
      for (std::string& cell : row) cell = reports::escape_text(cell);
      row[4] = reports::code(change.metric);
      table.add_row(std::move(row));
    }
    page.table("Changes", table);
  }
  const fs::path file = folder / "README.md";
  write_file_atomically(file, page.text());
  return file;
}

}  // namespace fathom::gate
