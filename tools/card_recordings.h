#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/card_check.h"
#include "results/document.h"

namespace fathom {

/// The folder of the recording of that model and suite, below the folder of all: h200 for the suite
/// default, h200/atlas for another; and the one for those of further cards, h200/cards/default,
/// where each has a folder of its own.
struct RecordingPlaces {
  std::filesystem::path first, cards;
};
RecordingPlaces recording_places(const std::filesystem::path& recordings, const Document& document);

/// The recording's document, plain or packed; empty where there is none.
std::filesystem::path document_in(const std::filesystem::path& recording);

/// The documents that are there.
std::vector<std::filesystem::path> recording_files(const RecordingPlaces& places);

/// Whether the card is normal, by the recordings below that folder, or where it is empty by those
/// that came with this program. A recording that cannot be read is left out. Nothing of a replay:
/// no card was measured.
std::optional<reports::CardCheck> card_of(const Document& document,
                                          const std::filesystem::path& recordings);

/// Writes the report with the HTML page and the card check, and prints its summary and where each
/// page is. `name`: the document's file.
void publish_report(const Document& document, const std::filesystem::path& folder,
                    const std::string& name, const std::filesystem::path& recordings);

}  // namespace fathom
