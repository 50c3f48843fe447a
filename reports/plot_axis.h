#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/document.h"

namespace fathom::plots {

/// "Bandwidth (B/s)" or "Bandwidth" and GB/s: "Bandwidth (GB/s)". A label that names the unit in
/// words ("Clocks per access") stays as it is. `base` is the unit without prefix.
std::string label_with_unit(const std::string& label, const std::string& base,
                            const std::string& unit);

/// Whether figures of this axis are bytes: by its name, or by its label.
bool in_bytes(const std::string& axis, const std::string& label);

using Ticks = std::vector<std::pair<double, std::string>>;

/// Where an axis begins and ends, and what it says.
struct Scale {
  double low = 0, high = 1;
  enum class Kind { linear, log2, log10 } kind = Kind::linear;
  Ticks ticks;
};

/// The command that puts them on an axis: "xtics" or "ytics".
std::string ticks_script(const char* axis, const Ticks& ticks);

/// The place of `value` between the ends of the axis, 0 to 1.
double fraction(const Scale& scale, double value);

/// Round steps of 1, 2 or 5 (of bytes: powers of two) about `low` to `high`; `from_zero` takes zero
/// in. About `count` ticks.
Scale linear_scale(double low, double high, bool from_zero, bool bytes, int count);

/// Powers of two; both ends positive.
Scale log2_scale(double low, double high, bool bytes, int count);

/// Decades, or 1-2-5 steps over a few of them; both ends positive. Ticks show the unit's prefix.
Scale log10_scale(double low, double high, const std::string& unit);

}  // namespace fathom::plots
