#include "results/text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <cwchar>
#include <locale>
#include <numeric>
#include <utility>

namespace fathom {
namespace {

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
  using Utf8 = std::codecvt<char32_t, char8_t, std::mbstate_t>;
  static const Utf8& utf8 = std::use_facet<Utf8>(std::locale::classic());
  const auto* const first = reinterpret_cast<const char8_t*>(text.data());
  const char8_t* end = first;
  char32_t value = 0, *written = nullptr;
  std::mbstate_t state{};
  utf8.in(state, first, first + text.size(), end, &value, &value + 1, written);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  // U+FFFE and U+FFFF are no characters, and make an XML file malformed.
  if (written == &value || surrogate || value == 0xFFFE || value == 0xFFFF) {
    out += "\xEF\xBF\xBD";
    return 1;
  }
  const auto length = static_cast<std::size_t>(end - first);
  if (value == '\n' || value == '\r' || value == '\t')
    out += ' ';
  else if (is_shown(value))
    out += text.substr(0, length);
  else
    out += fmt::format("<U+{:04X}>", static_cast<unsigned>(value));
  return length;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const char letter : a) {
    std::size_t diagonal = std::exchange(row[0], row[0] + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (letter != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
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

std::string utc_time(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

std::string utc_time_for_names(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(time));
}

std::optional<std::chrono::sys_seconds> parse_utc_time(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  if (!strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts)) return std::nullopt;
  // Before other years are counted in nanoseconds, which have no room for year 1.
  if (const int year = parts.tm_year + 1900; year < 1971 || year > 2200) return std::nullopt;
  const std::chrono::sys_seconds time{std::chrono::seconds(timegm(&parts))};
  // timegm made 2 March of 30 February, so that the text is no longer the same.
  return utc_time(time) == text ? std::optional(time) : std::nullopt;
}

std::optional<std::string> closest_match(std::string_view word,
                                         const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  const auto letters = word.size() - std::min(word.size(), word.find_first_not_of('-'));
  std::size_t best_distance = letters / 3 + 2;
  for (const auto& candidate : candidates)
    if (const auto distance = edit_distance(word, candidate); distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  if (best || word.size() < 3) return best;
  for (const auto& candidate : candidates)
    if (candidate.find(word) != std::string::npos) return candidate;
  return std::nullopt;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto match = closest_match(word, candidates);
  return match ? fmt::format(" Did you mean `{}`?", *match) : std::string();
}

}  // namespace fathom
