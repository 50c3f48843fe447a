#include <fmt/format.h>

#include "gate/history.h"
#include "gate/history_words.h"
#include "reports/markdown.h"
#include "results/atomic_file.h"
#include "results/error.h"

namespace fathom::gate {
namespace fs = std::filesystem;

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
  for (const MachineHistory& history : histories) {
    page.heading(2, reports::escape_text(title_of(history)), "machine");
    page.paragraph(fmt::format("{}, {} change{}.", extent_of(history), history.changes.size(),
                               history.changes.size() == 1 ? "" : "s"));
    if (history.changes.empty()) continue;
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
