// `fathom report`, and `fathom recording`: the cards that a report compares its own with.

#include "tools/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <deque>
#include <nlohmann/json.hpp>

#include "probes/claims.h"
#include "reports/page/page.h"
#include "reports/recordings.h"
#include "reports/report.h"
#include "results/document_io.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/programs.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// share/fathom/recordings beside this program's folder.
fs::path own_recordings() { return executable_folder() / "../share/fathom/recordings"; }

// --- report --------------------------------------------------------------------------------------

struct ReportArguments {
  std::vector<fs::path> documents;  ///< one, or with `html` several
  fs::path out;                     ///< empty: "report" beside the (first) document
  bool conclude = false;            ///< with what the probes' programs conclude from it today
  bool html = false;                ///< one HTML page of all documents, which `out` then names
  fs::path recordings{};            ///< of the card check
};

ExitCode report(const ReportArguments& options) {
  const auto& [files, out, conclude, html, recordings] = options;
  if (files.size() > 1 && !html)
    throw Error(ExitCode::bad_input,
                "A report is of one document: give --html for a page of several.");
  const fs::path folder = out.empty() ? files.front().parent_path() / "report" : out;
  const fs::path page = html && !out.empty() ? out : folder / "index.html";
  NamedFiles inputs, outputs{{"--out", page}};
  for (const fs::path& file : files) inputs.push_back({"a document", file});
  if (!html && files.front().extension() == ".md")  // a page of the report may have any name
    outputs.push_back({"--out", folder / files.front().filename()});
  require_distinct(inputs, outputs);

  std::deque<Document> documents;
  std::vector<reports::ShownDocument> shown;
  reports::Explained explained;
  for (const fs::path& file : files) {
    const std::string text = read_file_up_to(file, document_size_limit), origin = file.string();
    if (auto answer = reports::read_explained(text, origin)) {
      if (!html)
        fail(ExitCode::bad_input, "{}: is an answer of `fathom explain`; give --html for its page.",
             origin);
      explained.push_back(*std::move(answer));
      continue;
    }
    Document& document = documents.emplace_back(parse_document(text, origin));
    if (conclude) conclude_again(document, conclusion_of);
    shown.push_back({&document, origin, html ? card_of(document, recordings) : std::nullopt});
  }
  if (std::ranges::count(documents, Source::replay, &Document::source) > 0)
    fmt::print("REPLAY: this document repeats a recording; nothing in it was measured here.\n");
  if (!html) {
    reports::publish(documents.front(), folder, files.front().filename().string(),
                     card_of(documents.front(), recordings));
    return ExitCode::ok;
  }
  if (out.empty()) make_folder(folder);
  OutputFile(page).write(reports::html_page(shown, explained));
  print_line(fmt::format("Page: {}", fs::absolute(page).lexically_normal().string()));
  return ExitCode::ok;
}

void add_report(CLI::App& app, ReportArguments& options) {
  path_flag(app, "FILE", options.documents,
            "Result document of a run; with --html also several, and answers of explain in JSON",
            "TEXT")
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

// --- recording add -------------------------------------------------------------------------------

void add_add_flags(CLI::App& app, RecordingArguments& options) {
  path_flag(app, "RESULT", options.result, "Result document of a whole run of a suite", "TEXT")
      ->required();
  path_flag(app, "--recordings", options.recordings, "Folder of recordings", "DIR");
  app.footer(
      "The copy has no paths; no document has a host name. A partial measurement is refused,\n"
      "and so is one beside another process.\n\n"
      "Example:\n"
      "  fathom recording add fathom-h200-20260131T120000Z/result.json\n");
}

}  // namespace

void add_recordings_flag(CLI::App& app, fs::path& folder) {
  path_flag(app, "--recordings", folder,
            "Cards to compare this one with: a folder like Fathom's recordings (default: those "
            "that came with Fathom)",
            "DIR");
}

std::optional<reports::CardCheck> card_of(const Document& document, const fs::path& recordings) {
  return reports::card_of(document, recordings.empty() ? own_recordings() : recordings);
}

fs::path replayed_recording(const std::string& suite) {
  const char* given = std::getenv("FATHOM_RECORDING");
  const fs::path folder = given ? fs::path(given) : own_recordings() / "h200";
  for (const fs::path& closest :
       {folder / suite, folder / suite.substr(0, suite.find('-')), folder})
    if (const fs::path file = reports::document_in(closest); !file.empty())
      return file.lexically_normal();
  fail(ExitCode::setup_incomplete,
       "There is neither a GPU nor a recording to replay: {} is missing, install or clone Fathom "
       "again.",
       (folder / "result.json").lexically_normal().string());
}

ExitCode add_recording(const RecordingArguments& options) {
  const auto& [result, recordings] = options;
  const auto refuse = [&](const std::string& why) {
    fail(ExitCode::bad_input, "{} is no recording: {}.", clean(result.string()), clean(why));
  };
  const Document given = read_document(result);
  if (const std::string why = reports::problem_of_recording(given, own_recordings()); !why.empty())
    refuse(why);
  if (!find_run_suite(given.suite))
    refuse(
        fmt::format("it is of the suite `{}`, which is none that `fathom run` has", given.suite));
  if (!fs::is_directory(recordings))
    fail(ExitCode::bad_input,
         "There is no folder {}: call this in Fathom's source folder, or name one with "
         "--recordings.",
         clean(recordings.string()));
  const Document document = reports::anonymous(given, result.string());
  const Fingerprint& gpu = document.fingerprint;
  const reports::Recordings known(recordings, gpu.gpu_name, document.suite);
  for (const fs::path& file : known.documents) {
    const Document other = read_document(file);
    if (other.fingerprint.gpu_uuid_hash == gpu.gpu_uuid_hash && other.date == document.date)
      refuse(fmt::format("{} has this measurement already", file.string()));
  }
  fs::path place = known.first;
  if (!reports::document_in(place).empty())  // beside the others' then
    place = known.cards /
            reports::gpu_slug(document.date.substr(0, 10) + "-" + gpu.gpu_uuid_hash.substr(0, 8));
  if (!reports::document_in(place).empty())
    refuse(fmt::format("{} has this card's run of that day", place.string()));
  make_folder(place);
  const fs::path file = place / "result.json.gz";
  write_document(document, file);
  const ReportPaths pages = write_report(document, place / "report", file.filename());
  fmt::print("Recording: {}\nPage: {}\n", clean(file.string()), clean(pages.readme.string()));
  return ExitCode::ok;
}

Command recording_command() {
  return {.name = "recording",
          .summary = "Add a result to the cards that others are compared with",
          .noun = "action",
          .footer = "Example:\n  fathom recording add fathom-h200-20260131T120000Z/result.json\n",
          .commands = {{.name = "add",
                        .summary = "Put a result into the folder of recordings",
                        .add = with_arguments(add_add_flags, add_recording)}}};
}

Command report_command() {
  return {.name = "report",
          .summary = "Make the report of a result document",
          .add = with_arguments(add_report, report)};
}

}  // namespace fathom
