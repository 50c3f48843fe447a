#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/card_check.h"
#include "results/document.h"
#include "tools/commands.h"

namespace fathom {

/// The recordings that came with this program: share/fathom/recordings beside its folder.
std::filesystem::path own_recordings();

/// The folder of the recording of that model and suite, below the folder of all: h200 for the suite
/// default, h200/atlas for another; and the one for those of further cards, h200/cards/default,
/// where each has a folder of its own.
struct RecordingPlaces {
  std::filesystem::path first, cards;
};
RecordingPlaces recording_places(const std::filesystem::path& recordings,
                                 const std::string& gpu_name, const std::string& suite);

/// The recording's document, plain or packed; empty where there is none.
std::filesystem::path document_in(const std::filesystem::path& recording);

/// The documents that are there.
std::vector<std::filesystem::path> recording_files(const RecordingPlaces& places);

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

}  // namespace fathom
