#pragma once

#include <filesystem>
#include <string>

#include "results/document.h"
#include "tools/commands.h"

namespace fathom {

/// The recorded H200 run to show for `suite`: the recording that FATHOM_RECORDING names, else from
/// share/fathom/recordings, beside the folder that this program is in. There the default
/// suite's is result.json, and another one's is in a folder that is called like the suite or like
/// what stands before the dash in its name: atlas/result.json for atlas-quick. Where a suite has
/// none, the default suite's is shown. FATHOM_RECORDING may name such a folder, too. Throws
/// Error(setup_incomplete) if there is none.
std::filesystem::path recording_path(const std::string& suite);

/// The recording, cut down to the probes asked for and marked as a replay.
Document load_replay(const std::filesystem::path& recording, const RunArguments& options);

/// The first line of a replay's output.
std::string replay_notice(const Document& replay, const std::string& why);

}  // namespace fathom
