#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/plot_axis.h"
#include "reports/plot_style.h"
#include "results/document.h"

namespace fathom::plots {

/// A view of kind heat_map applied to entries: everything the picture needs.
struct HeatMap {
  std::string title, x_label, y_label, colour_label;
  /// Rows from the top; NaN where no entry has a figure. In the unit of the colours.
  std::vector<std::vector<double>> cells;
  Ticks columns, rows;  ///< at the cells' numbers
  Scale colours;        ///< its ends are those of the palette
  std::size_t filled = 0;
  std::size_t beyond = 0;  ///< cells that lie outside the palette's ends, and have its end's colour
  std::size_t binned = 1;  ///< neighbouring columns in each column of cells: it shows their mean
  std::string colour_low, colour_high;  ///< the palette's ends with units
  std::string lowest, highest;          ///< of all figures with units

  /// What a reader must know of how the figures were brought into the picture; may be empty.
  std::string note() const;
};

/// Nothing if no entry has a row, a column and a figure.
std::optional<HeatMap> collect_heat_map(const View& view, std::span<const Entry> entries);

std::string heat_map_script(const HeatMap& map, const Theme& theme, Source source);

}  // namespace fathom::plots
