#include "results/clean_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cwchar>
#include <locale>
#include <utility>

namespace fathom {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  ///< bytes; 0: they are no UTF-8
};

CodePoint first_of(std::string_view text) {
  using Utf8 = std::codecvt<char32_t, char8_t, std::mbstate_t>;
  static const Utf8& utf8 = std::use_facet<Utf8>(std::locale::classic());
  const auto* const first = reinterpret_cast<const char8_t*>(text.data());
  const char8_t* end = first;
  char32_t value = 0, *written = nullptr;
  std::mbstate_t state{};
  utf8.in(state, first, first + text.size(), end, &value, &value + 1, written);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  // U+FFFE and U+FFFF are no characters, and make an XML file malformed.
  if (written == &value || surrogate || value == 0xFFFE || value == 0xFFFF) return {};
  return {value, static_cast<std::size_t>(end - first)};
}

/// Unicode's control and format characters, its separators of lines and paragraphs, and its tags.
constexpr std::pair<char32_t, char32_t> not_shown[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},      {0x61C, 0x61C},
    {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},  {0x2060, 0x206F},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};

bool is_shown(char32_t value) {
  return std::ranges::none_of(
      not_shown, [&](const auto& range) { return value >= range.first && value <= range.second; });
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
