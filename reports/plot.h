#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

/// Whether gnuplot can be started here; empty if so, else one sentence why not.
std::string gnuplot_problem();

/// The files of one picture, for a light and for a dark page. The same input gives the same bytes.
struct Picture {
  std::string light, dark;  ///< file names inside the folder
  std::string alt;          ///< alternative text: what the picture shows, plain text on one line
  std::string note;         ///< what a reader must know of how it is drawn; may be empty
};

/// Draws a view of kind plot or heat_map over `entries`, which are of one probe; the view's own
/// `where` is applied here. Writes folder/<stem>-light.svg and folder/<stem>-dark.svg. Nothing if
/// there is nothing to draw, or if gnuplot cannot draw it (see gnuplot_problem). A picture of a
/// replay says so in its title and across its middle. Throws Error(output_unwritable) or
/// Error(output_full).
std::optional<Picture> draw_plot(const View& view, std::span<const Entry> entries,
                                 const std::filesystem::path& folder, const std::string& stem,
                                 Source source);

}  // namespace fathom
