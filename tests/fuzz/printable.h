#pragma once

#include <algorithm>
#include <string_view>

#include "results/clean_text.h"

namespace fathom {

/// Whether nothing in an output is obeyed by a terminal or hidden from a reader, but for the
/// output's own line breaks. Most lines are ASCII, and clean() is slow under the sanitizers.
inline bool is_printable(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!std::all_of(line.begin(), line.end(), is_plain) && clean(line) != line) return false;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return true;
}

}  // namespace fathom
