#include "tools/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "results/document_io.h"
#include "results/fail.h"
#include "results/suggestion.h"
#include "tools/card_recordings.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

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

/// The recording in a folder that comes closest to the suite; empty where there is none.
fs::path recording_of(const fs::path& folder, const std::string& suite) {
  for (const fs::path& candidate :
       {folder / suite, folder / suite.substr(0, suite.find('-')), folder})
    if (fs::path file = document_in(candidate); !file.empty()) return file;
  return {};
}

}  // namespace

std::filesystem::path recording_path(const std::string& suite) {
  fs::path folder = executable_folder() / "../share/fathom/recordings/h200";
  if (const char* given = std::getenv("FATHOM_RECORDING")) {
    if (!fs::is_directory(given)) return given;
    folder = given;
  }
  if (const fs::path file = recording_of(folder, suite); !file.empty())
    return file.lexically_normal();
  fail(ExitCode::setup_incomplete,
       "There is neither a GPU nor a recording to replay: {} is missing, install or clone Fathom "
       "again.",
       (folder / "result.json").lexically_normal().string());
}

Document load_replay(const std::filesystem::path& recording, const RunArguments& options) {
  Document document = read_document(recording);
  document.source = Source::replay;
  if (!options.probes.empty()) keep_probes(document, options.probes);
  if (document.suite != options.suite)
    document.warnings.push_back(
        fmt::format("The suite `{}` was asked for; the recording is of the suite `{}`.",
                    options.suite, document.suite));
  return document;
}

std::string replay_notice(const Document& replay, const std::string& why) {
  return fmt::format(
      "REPLAY: {}; replaying the recording of {} from {}. Nothing below was measured here.", why,
      replay.fingerprint.gpu_name, replay.date);
}

}  // namespace fathom
