#pragma once

#include <string_view>

namespace fathom::gate {

/// Reads a text as a result, decides on it, and writes every output; or reads it as rules. Aborts
/// where anything but an Error with a printable sentence comes of it.
void fuzz(std::string_view text, bool rules);

}  // namespace fathom::gate
