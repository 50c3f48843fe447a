#pragma once

#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::reports {

/// A level of the memory hierarchy, its cells in Markdown.
struct LevelRow {
  std::string name, size, latency, bandwidth;
};

/// The levels of which the document knows a figure, the one nearest to the cores first: its facts
/// `<level>.size` (beside it of what), `<level>.latency` (beside it `<level>.latency_time`) and
/// `<level>.bandwidth` (beside it `<level>.bytes_per_clock`, of one SM).
std::vector<LevelRow> hierarchy(const Document& document);

/// The facts that the hierarchy shows.
std::vector<const Fact*> level_facts(const Document& document);

/// The page's name, beside the report's README.md.
inline constexpr const char* atlas_file = "atlas.md";

/// Whether the document states enough of the hierarchy for a picture and a page of its own.
bool has_atlas(const Document& document);

}  // namespace fathom::reports
