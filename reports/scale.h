#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fathom::reports {

/// One prefix for all figures of a column or an axis: a figure divided by `factor` is in `unit`.
struct Scale {
  double factor = 1;
  std::string unit;  ///< with its prefix: "GB/s"; may be empty

  /// "Bandwidth (GB/s)", or the label alone where there is no unit.
  std::string label(const std::string& text) const;
};

/// Figures of one column: whole numbers in full, all others with four significant digits and the
/// zeros that belong to them; "–" for nothing.
std::vector<std::string> figures(const std::vector<std::optional<double>>& values,
                                 const Scale& scale = {});

/// The prefix that results/format.h gives to `typical`.
Scale scale_for(double typical, const std::string& unit);

/// For a column: the prefix of the median.
Scale scale_for(std::vector<double> values, const std::string& unit);

/// "copy_bandwidth" to "copy bandwidth": names of the document, for headers.
std::string spaced(std::string name);

/// Text with its first letter in upper case.
std::string capitalised(std::string text);

}  // namespace fathom::reports
