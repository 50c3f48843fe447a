#include "results/clean_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  ///< bytes; 0: they are no UTF-8
};

CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return {};
  char32_t value = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  // U+FFFE and U+FFFF are no characters, and make an XML file malformed.
  const bool no_character = value == 0xFFFE || value == 0xFFFF || value > 0x10FFFF;
  return overlong || surrogate || no_character ? CodePoint{} : CodePoint{value, length};
}

struct CodePoints {
  char32_t first, last;
};

/// Unicode's control and format characters, its separators of lines and paragraphs, and its tags.
constexpr CodePoints not_shown[] = {{0x00, 0x1F},     {0x7F, 0x9F},      {0xAD, 0xAD},
                                    {0x61C, 0x61C},   {0x180E, 0x180E},  {0x200B, 0x200F},
                                    {0x2028, 0x202E}, {0x2060, 0x206F},  {0xFEFF, 0xFEFF},
                                    {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};

bool is_shown(char32_t value) {
  return std::ranges::none_of(not_shown, [&](const CodePoints& range) {
    return value >= range.first && value <= range.last;
  });
}

/// Appends what is shown for the first character of `text`; the bytes that it has.
std::size_t append_first(std::string_view text, std::string& out) {
  const auto [value, length] = first_of(text);
  if (length == 0) {
    out += replacement;
    return 1;
  }
  if (value == '\n' || value == '\r' || value == '\t')
    out += ' ';
  else if (is_shown(value))
    out += text.substr(0, length);
  else
    out += fmt::format("<U+{:04X}>", static_cast<unsigned>(value));
  return length;
}

}  // namespace

std::string clean(std::string_view text) {
  std::string out;
  while (!text.empty()) text.remove_prefix(append_first(text, out));
  return out;
}

std::string quotable(std::string_view text, std::size_t longest) {
  std::string out;
  while (!text.empty() && out.size() < longest) text.remove_prefix(append_first(text, out));
  return text.empty() ? out : out + "...";
}

}  // namespace fathom
