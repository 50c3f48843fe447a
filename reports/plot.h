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

/// Draws a view of kind roofline, with roofs from the run's bounds; otherwise as draw_plot.
std::optional<Picture> draw_roofline(const View& view, std::span<const Entry> entries,
                                     std::span<const DeviceBound> bounds,
                                     const std::filesystem::path& folder, const std::string& stem,
                                     Source source);

/// One horizontal bar: how much of what physics allows was reached.
struct BoundBar {
  std::string label;
  double share = 0;  ///< of the bound, 1 is all of it; a share that is not finite is left out
  std::string text;  ///< beside the bar: "4.286 TB/s of 4.8 TB/s"
};

/// Draws the bars in their order, the first at the top; otherwise as draw_plot.
std::optional<Picture> draw_bound_bars(const std::vector<BoundBar>& bars,
                                       const std::filesystem::path& folder, const std::string& stem,
                                       Source source);

/// One figure of a level of the memory hierarchy.
struct LevelFigure {
  std::optional<double> value;  ///< nothing: it is not known
  std::string unit;    ///< of `value`; only figures of one unit are held against each other
  std::string beside;  ///< a second line: the same in another unit; may be empty
};

struct LevelRow {
  std::string name;
  LevelFigure size, latency, bandwidth;
};

/// Draws the levels in their order, the one nearest to the SM at the top; otherwise as draw_plot.
std::optional<Picture> draw_hierarchy(const std::vector<LevelRow>& levels,
                                      const std::filesystem::path& folder, const std::string& stem,
                                      Source source);

}  // namespace fathom
