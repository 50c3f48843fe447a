// `fathom report`, and `fathom recording`: the cards that a report compares its own with.

#include "tools/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <nlohmann/json.hpp>
#include <regex>
#include <system_error>

#include "probes/claims.h"
#include "reports/page/page.h"
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

/// The recording's document, plain or packed; empty where there is none.
fs::path document_in(const fs::path& recording) {
  std::error_code none;
  for (const char* name : {"result.json", "result.json.gz"})
    if (fs::exists(recording / name, none)) return recording / name;
  return {};
}

/// The recordings of a model and suite, below the folder of all: the first in h200 for the suite
/// default, or h200/atlas for another; those of further cards each in a folder of its own, in
/// h200/cards/default.
struct Recordings {
  fs::path first, cards;
  std::vector<fs::path> documents;  ///< that are there

  Recordings(const fs::path& all, const std::string& gpu_name, const std::string& suite) {
    // A suite's name becomes a folder's: only those that are plain words have recordings.
    const std::string folder = gpu_slug(suite);
    const fs::path model = all / gpu_slug(gpu_name);
    first = folder == "default" ? model : model / folder;
    cards = model / "cards" / folder;
    documents = {document_in(first)};
    std::error_code none;
    for (const auto& card : fs::directory_iterator(cards, none))
      documents.push_back(document_in(card.path()));
    std::erase(documents, fs::path());
    std::ranges::sort(documents);
  }
};

// --- report --------------------------------------------------------------------------------------

struct ReportArguments {
  std::vector<fs::path> documents;  ///< one, or with `html` several
  fs::path out;                     ///< empty: "report" beside the (first) document
  bool conclude = false;            ///< with what the probes' programs conclude from it today
  bool html = false;                ///< one HTML page of all documents, which `out` then names
  fs::path recordings{};            ///< of the card check; empty: those that came along
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
    publish_report(documents.front(), folder, files.front().filename().string(), recordings);
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

/// What makes figures of a card worth nothing to others.
std::string problem_of_recording(const Document& document) {
  const Fingerprint& gpu = document.fingerprint;
  if (document.source != Source::measured) return "it is a replay, so nothing in it was measured";
  if (!find_run_suite(document.suite))
    return fmt::format("it is of the suite `{}`, which is none that `fathom run` has",
                       document.suite);
  if (gpu.gpu_name.empty() || gpu.gpu_uuid_hash.empty())
    return "it does not say which GPU it is of";
  if (document.entries.empty()) return "it has no entries";
  for (const ProbeSummary& probe : document.probes)
    if (probe.status != ProbeStatus::complete)
      return fmt::format("the probe {} is not complete ({})", probe.name,
                         reports::words(probe.status));
  for (const Entry& entry : document.entries) {
    if (reports::is_failure(entry.verdict.status))
      return fmt::format("{} failed its check ({})", entry.name,
                         reports::words(entry.verdict.status));
    if (entry.telemetry.other_processes.value_or(0) > 0)
      return fmt::format("another process used the GPU while {} was measured", entry.name);
  }
  // A run with --probe or --benchmark_filter has less than the recording that came with Fathom.
  // Other GPUs have other cases, and a GPU alone has four tenths of the links of two, so a third of
  // a probe's is enough.
  const fs::path file =
      document_in(Recordings(own_recordings(), "NVIDIA H200", document.suite).first);
  const Document whole = file.empty() ? Document() : read_document(file);
  for (const ProbeSummary& probe : whole.probes) {
    const std::size_t all = reports::entries_of(whole, probe.name).size();
    const std::size_t here = reports::entries_of(document, probe.name).size();
    if (3 * here < all)
      return fmt::format(
          "the probe {} has {} entries, the H200's recording {}: run the whole suite", probe.name,
          here, all);
  }
  return "";
}

/// Takes out paths and addresses of mail, which say where a card was measured, and by whom. The
/// document has no host name; what it has of free text are sentences of drivers and tools.
void anonymise(nlohmann::ordered_json& json) {
  static const std::regex private_text(
      R"((^|[\s"'`(=:])(/[\w.+-]+(?:/[\w.+-]*)+|~/[\w./+-]*)|[\w.+-]+@[\w-]+(\.[\w-]+)+)");
  if (json.is_string()) {
    json = std::regex_replace(json.get<std::string>(), private_text, "$1(withheld)");
  } else if (json.is_structured()) {
    for (auto& part : json) anonymise(part);
  }
}

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
  if (document.source == Source::replay) return std::nullopt;
  std::vector<Document> recorded;
  const Recordings known(recordings.empty() ? own_recordings() : recordings,
                         document.fingerprint.gpu_name, document.suite);
  for (const fs::path& file : known.documents) {
    try {
      recorded.push_back(read_document(file));
    } catch (const Error& error) {
      // A run that took minutes does not fail for a file that it can do without.
      fmt::print(stderr, "The card check leaves out a recording: {}\n", clean(error.what()));
    }
  }
  return reports::check_card(document, recorded);
}

fs::path replayed_recording(const std::string& suite) {
  const char* given = std::getenv("FATHOM_RECORDING");
  const fs::path folder = given ? fs::path(given) : own_recordings() / "h200";
  for (const fs::path& closest :
       {folder / suite, folder / suite.substr(0, suite.find('-')), folder})
    if (const fs::path file = document_in(closest); !file.empty()) return file.lexically_normal();
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
  if (const std::string why = problem_of_recording(given); !why.empty()) refuse(why);
  if (!fs::is_directory(recordings))
    fail(ExitCode::bad_input,
         "There is no folder {}: call this in Fathom's source folder, or name one with "
         "--recordings.",
         clean(recordings.string()));
  nlohmann::ordered_json json = to_json(given);
  anonymise(json);
  const Document document = parse_document(to_text(json), result.string());
  const Fingerprint& gpu = document.fingerprint;
  const Recordings known(recordings, gpu.gpu_name, document.suite);
  for (const fs::path& file : known.documents) {
    const Document other = read_document(file);
    if (other.fingerprint.gpu_uuid_hash == gpu.gpu_uuid_hash && other.date == document.date)
      refuse(fmt::format("{} has this measurement already", file.string()));
  }
  fs::path place = known.first;
  if (!document_in(place).empty())  // beside the others' then
    place =
        known.cards / gpu_slug(document.date.substr(0, 10) + "-" + gpu.gpu_uuid_hash.substr(0, 8));
  if (!document_in(place).empty())
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
