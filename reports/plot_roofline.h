#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/plot_data.h"
#include "reports/plot_style.h"

namespace fathom::plots {

/// A view of kind roofline applied to entries, in FLOP per byte and the unit of the y axis.
struct RooflineData {
  struct Place {
    double x = 0, y = 0;
    bool counted = true;
  };
  struct Memory {
    std::string label;           ///< "DRAM, roof 4.814 TB/s"
    std::optional<double> roof;  ///< units of y a byte, so that intensity times it is a height
    std::vector<Place> places;
  };
  struct Kernel {
    std::string name;
    double y = 0;
    double first_x = 0, last_x = 0;  ///< of its places
  };
  std::string title, y_label;
  std::vector<Memory> memory;
  std::vector<Kernel> kernels;  ///< those that have a place, from the lowest to the highest
  std::vector<Level> levels;    ///< what arithmetic allows, ascending
  Scale x, y;
  bool has_uncounted = false;
};

/// Nothing if no entry has a place.
std::optional<RooflineData> collect_roofline(const View& view, std::span<const Entry> entries,
                                             std::span<const DeviceBound> bounds);

std::string roofline_script(const RooflineData& data, const Theme& theme, Source source);

}  // namespace fathom::plots
