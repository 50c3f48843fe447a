#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "reports/card_check.h"
#include "results/document.h"
#include "results/error.h"

namespace CLI {
class App;
}

namespace fathom {

struct RunArguments;

/// The flag --recordings of what checks a card.
void add_recordings_flag(CLI::App& app, std::filesystem::path& folder);

/// Whether the card is normal, by the recordings below that folder, or where it is empty by those
/// that came with this program. A recording that cannot be read is left out. Nothing of a replay:
/// no card was measured.
std::optional<reports::CardCheck> card_of(const Document& document,
                                          const std::filesystem::path& recordings);

/// The recorded H200 run to show for `suite`: the recording that FATHOM_RECORDING names, else one
/// that came with this program. The default suite's is result.json, and another one's is in a
/// folder that is called like the suite or like what stands before the dash in its name:
/// atlas/result.json for atlas-quick. Where a suite has none, the default suite's is shown.
/// FATHOM_RECORDING may name such a folder, too. Throws Error(setup_incomplete) if there is none.
std::filesystem::path replayed_recording(const std::string& suite);

/// The recording, cut down to the probes asked for and marked as a replay.
Document load_replay(const std::filesystem::path& recording, const RunArguments& options);

/// Puts the result of a run into the folder of recordings: checked, without paths, and with its
/// page. Throws Error(bad_input) for what is no whole measurement, or there already.
ExitCode add_recording(const std::filesystem::path& result,
                       const std::filesystem::path& recordings);

}  // namespace fathom
