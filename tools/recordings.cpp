#include "tools/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "results/clean_text.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/suggestion.h"
#include "tools/output_folder.h"
#include "tools/probe_binaries.h"

namespace fathom {

namespace fs = std::filesystem;

namespace {

void keep_probes(Document& document, const std::vector<std::string>& names) {
  const auto unwanted = [&](const std::string& name) {
    return std::ranges::count(names, name) == 0;
  };
  std::vector<std::string> recorded;
  for (const auto& probe : document.probes) recorded.push_back(probe.name);
  for (const auto& name : names)
    if (std::ranges::count(recorded, name) == 0)
      fail(ExitCode::bad_input, "The recording has no probe `{}`.{}", name,
           did_you_mean(name, recorded));
  std::erase_if(document.probes, [&](const auto& probe) { return unwanted(probe.name); });
  std::erase_if(document.entries, [&](const auto& entry) { return unwanted(entry.probe); });
  std::erase_if(document.claims, [&](const auto& claim) { return unwanted(claim.probe); });
  std::erase_if(document.facts, [&](const auto& fact) { return unwanted(fact.probe); });
}

}  // namespace

fs::path own_recordings() { return executable_folder() / "../share/fathom/recordings"; }

RecordingPlaces recording_places(const fs::path& recordings, const std::string& gpu_name,
                                 const std::string& suite) {
  // A suite's name becomes a folder's: only those that are plain words have recordings.
  const std::string folder = gpu_slug(suite);
  const fs::path model = recordings / gpu_slug(gpu_name);
  return {folder == "default" ? model : model / folder, model / "cards" / folder};
}

fs::path document_in(const fs::path& recording) {
  std::error_code none;
  const fs::path plain = recording / "result.json", packed = recording / "result.json.gz";
  return fs::exists(plain, none) ? plain : fs::exists(packed, none) ? packed : fs::path();
}

std::vector<fs::path> recording_files(const RecordingPlaces& places) {
  std::vector<fs::path> files{document_in(places.first)};
  std::error_code none;
  for (fs::directory_iterator at(places.cards, none), end; !none && at != end; at.increment(none))
    files.push_back(document_in(at->path()));
  std::erase(files, fs::path());
  std::ranges::sort(files);
  return files;
}

std::optional<reports::CardCheck> card_of(const Document& document, const fs::path& recordings) {
  if (document.source == Source::replay) return std::nullopt;
  std::vector<Document> recorded;
  for (const fs::path& file :
       recording_files(recording_places(recordings.empty() ? own_recordings() : recordings,
                                        document.fingerprint.gpu_name, document.suite))) {
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
  fs::path folder = own_recordings() / "h200";
  if (const char* given = std::getenv("FATHOM_RECORDING")) {
    if (!fs::is_directory(given)) return given;
    folder = given;
  }
  for (const fs::path& closest :
       {folder / suite, folder / suite.substr(0, suite.find('-')), folder})
    if (const fs::path file = document_in(closest); !file.empty()) return file.lexically_normal();
  fail(ExitCode::setup_incomplete,
       "There is neither a GPU nor a recording to replay: {} is missing, install or clone Fathom "
       "again.",
       (folder / "result.json").lexically_normal().string());
}

Document load_replay(const fs::path& recording, const RunArguments& options) {
  Document document = read_document(recording);
  document.source = Source::replay;
  if (!options.probes.empty()) keep_probes(document, options.probes);
  if (document.suite != options.suite)
    document.warnings.push_back(
        fmt::format("The suite `{}` was asked for; the recording is of the suite `{}`.",
                    options.suite, document.suite));
  return document;
}

}  // namespace fathom
