#pragma once

#include <filesystem>
#include <string>

#include "results/document.h"
#include "tools/commands.h"

namespace fathom {

/// The recorded H200 run: FATHOM_RECORDING, or beside the installed program, or in the source
/// folder. Throws Error(setup_incomplete) if there is none.
std::filesystem::path recording_path();

/// The recording, cut down to the probes asked for and marked as a replay.
Document load_replay(const std::filesystem::path& recording, const RunArguments& options);

/// The first line of a replay's output.
std::string replay_notice(const Document& replay, const std::string& why);

}  // namespace fathom
