#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/plot.h"
#include "results/document.h"

namespace fathom::reports {

/// Levels of the memory hierarchy as facts name them, by the part of their id before the first
/// point; the one nearest to the cores first.
std::span<const char* const> level_parts();

/// "l1" of "l1.latency"; the whole id where there is no point.
std::string part_of(const Fact& fact);

/// The levels of which the document knows a figure, by its facts `<level>.size`, `<level>.latency`
/// (beside it `<level>.latency_time`) and `<level>.bandwidth`.
std::vector<LevelRow> hierarchy(const Document& document);

/// Of the page, beside the report's README.md.
inline constexpr const char* atlas_file = "atlas.md";

/// Whether the document states enough of the hierarchy for a picture and a page of its own.
bool has_atlas(const Document& document);

}  // namespace fathom::reports
