#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "reports/report.h"
#include "results/clean_text.h"
#include "results/document_io.h"
#include "results/error.h"
#include "tools/child_process.h"
#include "tools/commands.h"
#include "tools/probe_binaries.h"
#include "tools/temporary_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// What only its own program can conclude, each probe of the document in turn. One whose program is
/// not there, as of another version, keeps what it concluded.
Document concluded_today(const fs::path& measured) {
  constexpr std::chrono::minutes limit{2};
  Document document = read_document(measured);
  const TemporaryFolder folder("set TMPDIR to a folder that can be written");
  const fs::path concluded = folder.path() / "result.json";
  write_document(document, concluded);
  const std::vector<ProbeBinary> programs = find_probes(program_folder());
  for (const ProbeSummary& probe : document.probes) {
    const auto found = std::ranges::find(programs, probe.name, &ProbeBinary::name);
    if (found == programs.end()) {
      fmt::print(stderr, "No program of the probe `{}`: what it concluded stays.\n",
                 clean(probe.name));
      continue;
    }
    const std::string file = concluded.string();
    const CapturedRun run =
        run_and_capture(found->program, {"--conclude", file, "--out", file}, limit);
    if (run.end.end.signal != 0 || run.end.end.status != 0)
      throw Error(ExitCode::probe_crashed,
                  fmt::format("{} concludes nothing ({}): {}", found->program.string(),
                              run.end.end.describe(), last_line(run.errors)));
  }
  return read_document(concluded);
}

/// A document that has the name of a page of the report, in its folder, would be replaced by it.
void refuse_in_report(const fs::path& document, const fs::path& folder) {
  const std::string kind = document.extension().string();
  std::error_code none;
  if ((kind == ".md" || kind == ".svg") &&
      fs::equivalent(document.parent_path() / ".", folder, none))
    throw Error(ExitCode::bad_input,
                fmt::format("{} lies where its report goes, under the name of a page: choose "
                            "another folder with --out.",
                            document.string()));
}

}  // namespace

ExitCode report_command(const ReportArguments& options) {
  const Document document =
      options.conclude ? concluded_today(options.document) : read_document(options.document);
  const auto folder = options.out.empty() ? options.document.parent_path() / "report" : options.out;
  refuse_in_report(options.document, folder);
  if (document.source == Source::replay)
    fmt::print("REPLAY: this document repeats a recording; nothing in it was measured here.\n");
  const ReportPaths paths = write_report(document, folder, options.document.filename().string());
  const bool colour = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  const auto shown = [](const fs::path& path) {
    return clean(fs::absolute(path).lexically_normal().string());
  };
  fmt::print("{}\nReport: {}\n", terminal_summary(document, colour), shown(paths.readme));
  if (!paths.atlas.empty()) fmt::print("Atlas: {}\n", shown(paths.atlas));
  for (const auto& page : paths.pages) fmt::print("Page: {}\n", shown(page));
  return ExitCode::ok;
}

}  // namespace fathom
