#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <system_error>

#include "reports/facts.h"
#include "reports/report.h"
#include "results/clean_text.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "tools/commands.h"
#include "tools/output_folder.h"
#include "tools/recordings.h"
#include "tools/suites.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_recording(const fs::path& file, const std::string& why) {
  fail(ExitCode::bad_input, "{} is no recording: {}.", clean(file.string()), clean(why));
}

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
  return "";
}

/// A run with --probe or --benchmark_filter has less than the recording that came with Fathom.
/// Other GPUs have other cases, and a GPU alone has four tenths of the links of two, so a third of
/// a probe's is enough.
std::string missing_part(const Document& document) {
  const fs::path file =
      document_in(recording_places(own_recordings(), "NVIDIA H200", document.suite).first);
  if (file.empty()) return "";
  const Document whole = read_document(file);
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

/// Paths and addresses of mail, which say where a card was measured, and by whom. The document has
/// no host name; what it has of free text are sentences of drivers and tools.
void anonymise(nlohmann::ordered_json& json) {
  static const std::regex private_text(
      R"((^|[\s"'`(=:])(/[\w.+-]+(?:/[\w.+-]*)+|~/[\w./+-]*)|[\w.+-]+@[\w-]+(\.[\w-]+)+)");
  if (json.is_string()) {
    json = std::regex_replace(json.get<std::string>(), private_text, "$1(withheld)");
  } else if (json.is_structured()) {
    for (auto& part : json) anonymise(part);
  }
}

Document anonymous(const Document& document, const std::string& origin) {
  nlohmann::ordered_json json = to_json(document);
  anonymise(json);
  return parse_document(to_text(json), origin);
}

/// A folder of the card's own beside the others', where the model's first place is taken.
fs::path free_place(const RecordingPlaces& places, const Document& document) {
  if (document_in(places.first).empty()) return places.first;
  std::string day = document.date.substr(0, 10);
  const std::string name = gpu_slug(day + "-" + document.fingerprint.gpu_uuid_hash.substr(0, 8));
  return places.cards / name;
}

}  // namespace

ExitCode recording_add_command(const RecordingArguments& options) {
  const Document given = read_document(options.result);
  for (const std::string& why : {problem_of_recording(given), missing_part(given)})
    if (!why.empty()) refuse_recording(options.result, why);
  if (!fs::is_directory(options.recordings))
    fail(ExitCode::bad_input,
         "There is no folder {}: call this in Fathom's source folder, or name one with "
         "--recordings.",
         clean(options.recordings.string()));
  const Document document = anonymous(given, options.result.string());
  const RecordingPlaces places =
      recording_places(options.recordings, document.fingerprint.gpu_name, document.suite);
  for (const fs::path& file : recording_files(places)) {
    const Document known = read_document(file);
    if (known.fingerprint.gpu_uuid_hash == document.fingerprint.gpu_uuid_hash &&
        known.date == document.date)
      refuse_recording(options.result,
                       fmt::format("{} has this measurement already", file.string()));
  }
  const fs::path place = free_place(places, document);
  if (!document_in(place).empty())
    refuse_recording(options.result,
                     fmt::format("{} has this card's run of that day", place.string()));
  make_folder(place, "--recordings");
  const fs::path file = place / "result.json.gz";
  write_document(document, file);
  const ReportPaths pages = write_report(document, place / "report", file.filename());
  fmt::print("Recording: {}\nPage: {}\n", clean(file.string()), clean(pages.readme.string()));
  return ExitCode::ok;
}

}  // namespace fathom
