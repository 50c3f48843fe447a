#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/card_check.h"

namespace fathom::reports {

// Recordings: documents of whole runs, kept in a folder, that other cards are held against.

/// "NVIDIA H200" -> "h200"; "NVIDIA GeForce RTX 4090" -> "geforce-rtx-4090".
std::string gpu_slug(std::string_view gpu_name);

/// The recording's document, plain or packed; empty where there is none.
std::filesystem::path document_in(const std::filesystem::path& recording);

/// The recordings of a model and suite, below the folder of all: the first in h200 for the suite
/// default, or h200/atlas for another; those of further cards each in a folder of its own, in
/// h200/cards/default.
struct Recordings {
  std::filesystem::path first, cards;
  std::vector<std::filesystem::path> documents;  ///< that are there

  Recordings(const std::filesystem::path& all, const std::string& gpu_name,
             const std::string& suite);
};

/// Whether the card is normal, by its model's recordings below the folder of all. One that cannot
/// be read is left out, and standard error says so. Nothing of a replay: no card was measured.
std::optional<CardCheck> card_of(const Document& document, const std::filesystem::path& all);

/// Why figures of this card are worth nothing to others; empty: they are worth recording. Below
/// the folder of all is the H200's run with all of the suite's probes.
std::string problem_of_recording(const Document& document, const std::filesystem::path& all);

/// The document without paths and addresses of mail, which say where a card was measured, and by
/// whom. It has no host name; what it has of free text are sentences of drivers and tools. Errors
/// name `origin`.
Document anonymous(const Document& document, const std::string& origin);

}  // namespace fathom::reports
