#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/document.h"
#include "results/text.h"

namespace fathom::reports {

/// Figures of one column: whole numbers in full, all others with four significant digits and the
/// zeros that belong to them; "–" for nothing.
std::vector<std::string> figures(const std::vector<std::optional<double>>& values,
                                 const Scale& scale = {});

/// For a column: the prefix that results/text.h gives to the median.
Scale scale_for(std::vector<double> values, const std::string& unit);

/// A figure with its own prefix, for a table whose rows have several units: number and unit stay on
/// one line; "–" for nothing. Markdown.
std::string quantity(const std::optional<double>& value, const std::string& unit);

/// "4.281 to 4.290", in the scale's unit: both ends with equally many digits. Plain text.
std::string interval_text(const Interval& interval, const Scale& scale);

/// "copy_bandwidth" to "copy bandwidth": names of the document, for headers.
std::string spaced(std::string name);

/// For text of the document, a sentence or not, inside a sentence of the report.
std::string without_full_stop(std::string text);

/// Text with its first letter in upper case.
std::string capitalised(std::string text);

}  // namespace fathom::reports
