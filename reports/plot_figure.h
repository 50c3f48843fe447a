#pragma once

#include <optional>
#include <string>

#include "results/document.h"

namespace fathom::plots {

/// Figures outside are faults of a document, and no axis could show them.
inline constexpr double largest_figure = 1e100, smallest_figure = 1e-100;

/// The value, if an axis can show it.
std::optional<double> drawable(const std::optional<double>& value);

/// The figure that a view shows of an entry, and what belongs to it.
struct Figure {
  std::string name, unit;
  double value = 0;
  std::optional<double> low, high, bound, expected;
  /// What the metric was multiplied with: opponents have no other figures. Nothing for another's.
  std::optional<double> of_metric;
};

/// By a view's `y`: "metric", "metric_per_cycle", a counter's role or an extra's name. Nothing if
/// the entry lacks it.
std::optional<Figure> figure_of(const Entry& entry, const std::string& y);

/// Of a value that is a quantity; nothing for a word.
std::optional<double> number_of(const AxisValue& value);

/// Whether an axis can have the value: a word, or a quantity that can be drawn.
bool has_place(const AxisValue* value);

/// A value of the axis as its ticks and a key show it, on one line: "16 KiB", "float4".
std::string value_text(const std::string& axis, const AxisValue& value);
/// The same where the axis' label says that it counts bytes.
std::string category_text(const std::string& axis, const std::string& label,
                          const AxisValue& value);

/// What an axis of figures is called: its label, or else the name of what it shows, without unit.
std::string figure_label(const std::string& label, const std::string& name);

}  // namespace fathom::plots
