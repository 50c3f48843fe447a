#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fathom::reports {

/// Columns of a usual terminal window.
inline constexpr std::size_t line_width = 100;

/// Lines of at most `width_wanted`, broken between words; a longer word has a line of its own.
std::vector<std::string> wrapped(const std::string& text, std::size_t width_wanted);

}  // namespace fathom::reports
