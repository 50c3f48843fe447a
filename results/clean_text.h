#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

/// Text that somebody else wrote, for a terminal, a log or a page: one line of valid UTF-8 that
/// shows what it holds. Line breaks and tabs become spaces. What a terminal obeys or a reader
/// cannot see is named instead: control characters, directions and line separators, as "<U+202E>".
/// Bytes that are no UTF-8 become U+FFFD.
std::string clean(std::string_view text);

/// The same for quoting in a sentence: about `longest` bytes of it at most.
std::string quotable(std::string_view text, std::size_t longest = 100);

}  // namespace fathom
