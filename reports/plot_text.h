#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fathom::plots {

// Text of a document on its way into a gnuplot script. Nothing in it is ever code there: quotes,
// backquotes (commands), @ (macros) and all other punctuation are written as octal escapes.
// gnuplot's own rule of doubled single quotes does not hold at the start of a string, nor beside a
// macro.

/// Number of code points.
std::size_t length(const std::string& text);

/// At most `limit` code points, the last one an ellipsis where something was left out.
std::string shortened(const std::string& text, std::size_t limit);

/// Lines of at most `limit` code points, broken at spaces; the last of `lines` is shortened.
std::vector<std::string> wrapped(const std::string& text, std::size_t limit, std::size_t lines);

/// A gnuplot string constant of one line, or of several.
std::string quoted(const std::string& text);
std::string quoted(const std::vector<std::string>& lines);

/// A string constant where gnuplot takes it as a number's format: tick labels.
std::string quoted_tick(const std::string& text);

}  // namespace fathom::plots
