#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "probes/claims.h"
#include "reports/page/page.h"
#include "reports/report.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/commands.h"
#include "tools/output_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

Document concluded_today(Document document) {
  const std::vector<ProbeSummary> probes = document.probes;
  for (const ProbeSummary& probe : probes) {
    if (const Conclude conclude = conclusion_of(probe.name))
      conclude_again(probe.name, conclude, document);
    else
      fmt::print(stderr, "There is no probe `{}`: what it concluded stays.\n", clean(probe.name));
  }
  return document;
}

struct ReportArguments {
  std::vector<fs::path> documents;  ///< one, or with `html` several
  fs::path out;                     ///< empty: "report" beside the (first) document
  bool conclude = false;            ///< with what the probes' programs conclude from it today
  bool html = false;                ///< one HTML page of all documents, which `out` then names
  fs::path recordings{};            ///< of the card check; empty: those that came along
};

/// A document that has the name of a page of the report, in its folder, would be replaced by it.
void refuse_in_report(const fs::path& document, const fs::path& folder) {
  const std::string kind = document.extension().string();
  std::error_code none;
  if ((kind == ".md" || kind == ".html") &&
      fs::equivalent(document.parent_path() / ".", folder, none))
    fail(ExitCode::bad_input,
         "{} lies where its report goes, under the name of a page: choose another folder with "
         "--out.",
         document.string());
}

using Documents = std::vector<std::pair<fs::path, Document>>;

ExitCode page_of(const Documents& documents, const reports::Explained& explained,
                 const ReportArguments& options) {
  const std::vector<fs::path>& files = options.documents;
  const fs::path& out = options.out;
  std::vector<reports::ShownDocument> pages;
  for (const auto& [file, document] : documents)
    pages.push_back({&document, file.string(), card_of(document, options.recordings)});
  const fs::path page = out.empty() ? files.front().parent_path() / "report/index.html" : out;
  std::vector<NamedFile> inputs;
  for (const fs::path& file : files) inputs.push_back({"a document", file});
  require_distinct(inputs, {{"--out", page}});
  if (out.empty()) make_folder(page.parent_path());
  OutputFile(page).write(reports::html_page(pages, explained));
  print_line(fmt::format("Page: {}", fs::absolute(page).lexically_normal().string()));
  return ExitCode::ok;
}

ExitCode report(const ReportArguments& options) {
  if (options.documents.size() > 1 && !options.html)
    throw Error(ExitCode::bad_input,
                "A report is of one document: give --html for a page of several.");
  Documents documents;
  reports::Explained explained;
  bool any_replay = false;
  for (const fs::path& file : options.documents) {
    const std::string text = read_file_up_to(file, document_size_limit), origin = file.string();
    if (auto answer = reports::read_explained(text, origin)) {
      if (!options.html)
        fail(ExitCode::bad_input, "{}: is an answer of `fathom explain`; give --html for its page.",
             origin);
      explained.push_back(*std::move(answer));
      continue;
    }
    const Document document = parse_document(text, origin);
    any_replay |= document.source == Source::replay;
    documents.emplace_back(file, options.conclude ? concluded_today(document) : document);
  }
  if (any_replay)
    fmt::print("REPLAY: this document repeats a recording; nothing in it was measured here.\n");
  if (options.html) return page_of(documents, explained, options);
  const auto& [file, document] = documents.front();
  const auto folder = options.out.empty() ? file.parent_path() / "report" : options.out;
  refuse_in_report(file, folder);
  publish_report(document, folder, file.filename().string(), options.recordings);
  return ExitCode::ok;
}

void add_report(CLI::App& app, ReportArguments& options) {
  app.add_option(
         "FILE", options.documents,
         "Result document of a run; with --html also several, and answers of explain in JSON")
      ->check(not_empty())
      ->required();
  path_flag(app, "--out", options.out,
            "Folder of the report, or with --html the page (default: report or report/index.html, "
            "beside FILE)",
            "PATH");
  app.add_flag("--html", options.html,
               "Only the HTML page: one file that shows all documents over each other");
  app.add_flag("--conclude", options.conclude,
               "With today's rules, instead of what was concluded when it was measured");
  add_recordings_flag(app, options.recordings);
  app.footer(
      "Examples:\n"
      "  fathom report fathom-h200-20260131T120000Z/result.json\n"
      "  fathom report recordings/h200/result.json --conclude --out /tmp/h200\n"
      "  fathom report --html before/result.json after/result.json --out page.html\n"
      "  fathom report --html why.json --out why.html\n");
}

}  // namespace

void publish_report(const Document& document, const fs::path& folder, const std::string& name,
                    const fs::path& recordings) {
  const auto checked = card_of(document, recordings);
  const reports::CardCheck* card = checked ? &*checked : nullptr;
  const ReportPaths paths = write_report(document, folder, name, card);
  const bool colour = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  print_out(terminal_summary(document, colour, card) + "\n");
  const auto say = [](const char* what, const fs::path& path) {
    print_line(fmt::format("{}: {}", what, fs::absolute(path).lexically_normal().string()));
  };
  say("Report", paths.readme);
  if (!paths.atlas.empty()) say("Atlas", paths.atlas);
  for (const fs::path& page : paths.pages) say("Page", page);
  const fs::path html = folder / "index.html";
  write_file_atomically(html, reports::html_page({{&document, name, checked}}, {}));
  say("Explore", html);
}

Command report_command() {
  return {.name = "report",
          .summary = "Make the report of a result document",
          .add = with_arguments(add_report, report)};
}

}  // namespace fathom
