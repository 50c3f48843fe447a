#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "reports/report.h"
#include "results/document_io.h"
#include "tools/commands.h"

namespace fathom {

ExitCode report_command(const ReportArguments& options) {
  const Document document = read_document(options.document);
  const auto folder = options.out.empty() ? options.document.parent_path() / "report" : options.out;
  if (document.source == Source::replay)
    fmt::print("REPLAY: this document repeats a recording; nothing in it was measured here.\n");
  const ReportPaths paths = write_report(document, folder, options.document.filename().string());
  const bool colour = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  const auto shown = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  fmt::print("{}\nReport: {}\n", terminal_summary(document, colour), shown(paths.readme));
  if (!paths.atlas.empty()) fmt::print("Atlas: {}\n", shown(paths.atlas));
  for (const auto& page : paths.pages) fmt::print("Page: {}\n", shown(page));
  return ExitCode::ok;
}

}  // namespace fathom
