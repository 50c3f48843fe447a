#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/plot_axis.h"
#include "results/document.h"

namespace fathom::plots {

/// What is drawn at one place of x; figures of y in the unit of the axis.
struct Point {
  double x = 0, y = 0;
  std::optional<double> low, high;  ///< interval
  std::optional<double> bound, expected;
  std::string text;  ///< y with its unit
};

struct Series {
  std::string label;
  std::vector<Point> points;  ///< by ascending x
  bool connected = true;      ///< no two points share an x, and x is a quantity
};

/// A view's marker or stretch, in the units in which it is drawn.
struct Mark {
  double first_x = 0, first_y = 0, last_x = 0, last_y = 0;  ///< of a marker only `first_x` counts
  std::string label;
};

/// A view's level, in the units in which it is drawn.
struct Level {
  double y = 0;
  std::string label;  ///< with its figure: "cuBLAS 51.4 TFLOP/s"
};

/// A view applied to entries: everything a picture needs, in the units in which it is drawn.
struct PlotData {
  std::string title, x_label, y_label;
  std::string key_title;  ///< names of the axes that tell the series apart
  std::vector<Series> series;
  /// Not empty: x counts these from 0, because the axis has words, or zero where a logarithm was
  /// asked for.
  std::vector<std::string> categories;
  bool words = false;           ///< the categories are words, without order
  Scale x, y;                   ///< with categories, only the ends of `x` count
  std::optional<double> bound;  ///< the one bound of all points
  std::string bound_text;
  bool bound_beyond = false;  ///< it lies so far above that it would flatten the rest
  std::vector<Mark> markers, stretches;  ///< by ascending x; none with categories
  std::vector<Level> levels;             ///< by ascending y; those that y can show
  std::string beyond;                    ///< levels far above, which would flatten the rest, in words
  bool bounds_differ = false, has_expected = false, has_intervals = false;
  std::string lowest, highest;  ///< of y with units, for the alternative text
};

/// Nothing if no entry has both x and y.
std::optional<PlotData> collect(const View& view, std::span<const Entry> entries);

}  // namespace fathom::plots
