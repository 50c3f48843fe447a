#include "tools/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "results/document_io.h"
#include "results/error.h"
#include "results/suggestion.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

void keep_probes(Document& document, const std::vector<std::string>& names) {
  const auto unwanted = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) == names.end();
  };
  std::vector<std::string> recorded;
  for (const auto& probe : document.probes) recorded.push_back(probe.name);
  for (const auto& name : names)
    if (std::find(recorded.begin(), recorded.end(), name) == recorded.end())
      throw Error(ExitCode::bad_input, fmt::format("The recording has no probe `{}`.{}", name,
                                                   did_you_mean(name, recorded)));
  std::erase_if(document.probes, [&](const auto& probe) { return unwanted(probe.name); });
  std::erase_if(document.entries, [&](const auto& entry) { return unwanted(entry.probe); });
  std::erase_if(document.claims, [&](const auto& claim) { return unwanted(claim.probe); });
  std::erase_if(document.facts, [&](const auto& fact) { return unwanted(fact.probe); });
}

}  // namespace

std::filesystem::path recording_path() {
  if (const char* path = std::getenv("FATHOM_RECORDING")) return path;
  for (const std::filesystem::path& path :
       {program_folder() / "../share/fathom/recordings/h200/result.json",
        std::filesystem::path(FATHOM_RECORDINGS_DIR) / "h200/result.json"})
    if (std::filesystem::exists(path)) return path.lexically_normal();
  throw Error(ExitCode::setup_incomplete,
              fmt::format("There is neither a GPU nor a recording to replay: {} is missing, clone "
                          "Fathom again.",
                          FATHOM_RECORDINGS_DIR "/h200/result.json"));
}

Document load_replay(const std::filesystem::path& recording, const RunArguments& options) {
  Document document = read_document(recording);
  document.source = Source::replay;
  if (!options.probes.empty()) keep_probes(document, options.probes);
  if (document.suite != options.suite)
    document.warnings.push_back(
        fmt::format("The suite `{}` was asked for; the recording is of the suite `{}`.",
                    options.suite, document.suite));
  if (!options.benchmark_flags.empty())
    document.warnings.push_back(
        "Google Benchmark's flags have no effect on a replay: it shows what was recorded.");
  return document;
}

std::string replay_notice(const Document& replay, const std::string& why) {
  return fmt::format(
      "REPLAY: {}; replaying the recording of {} from {}. Nothing below was "
      "measured here.",
      why, replay.fingerprint.gpu_name, replay.date);
}

}  // namespace fathom
