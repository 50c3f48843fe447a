#include "results/text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <cwchar>
#include <locale>
#include <numeric>
#include <span>
#include <utility>

namespace fathom {
namespace {

/// Unicode's control and format characters, its separators of lines and paragraphs, and its tags.
constexpr std::pair<char32_t, char32_t> not_shown[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},      {0x61C, 0x61C},
    {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},  {0x2060, 0x206F},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};

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
  const auto holds_it = [&](const auto& range) {
    return value >= range.first && value <= range.second;
  };
  if (value == '\n' || value == '\r' || value == '\t')
    out += ' ';
  else if (std::ranges::none_of(not_shown, holds_it))
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

constexpr int significant_digits = 4;
constexpr double rounds_to_1 = 0.99995;  // in so many digits
constexpr const char* not_finite = "not finite";

/// Below this, thousands separators would be in the way: years, block sizes.
constexpr double first_separated = 10000;

struct Prefix {
  double factor;
  const char* symbol;
};

constexpr Prefix decimal_prefixes[] = {{1e-12, "p"}, {1e-9, "n"}, {1e-6, "u"}, {1e-3, "m"},
                                       {1, ""},      {1e3, "k"},  {1e6, "M"},  {1e9, "G"},
                                       {1e12, "T"},  {1e15, "P"}};
constexpr Prefix binary_prefixes[] = {
    {1, ""}, {0x1p10, "Ki"}, {0x1p20, "Mi"}, {0x1p30, "Gi"}, {0x1p40, "Ti"}};

/// What each unit's prefixes are; units not here get none.
std::span<const Prefix> prefixes_of(std::string_view unit) {
  const std::span<const Prefix> all(decimal_prefixes);
  if (unit == "B") return binary_prefixes;
  if (unit == "s") return all.subspan(1, 4);
  if (unit == "W" || unit == "J") return all.subspan(3);
  if (unit == "J/B" || unit == "J/FLOP" || unit == "J/op") return all.first(5);
  if (unit == "B/s" || unit == "Hz" || unit == "FLOP/s" || unit == "op/s") return all.subspan(4);
  return {};
}

std::string with_separators(std::string text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  for (std::size_t at = end; at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

/// With so many significant digits, but without trailing zeros.
std::string plain(double number, int digits) {
  if (!std::isfinite(number)) return not_finite;
  const double size = std::abs(number);
  if (number != 0 && (size < 1e-6 || size >= 1e15)) return fmt::format("{:.{}g}", number, digits);
  // What rounding makes of it counts: 9.9996 is 10.00.
  const std::string rounded = fmt::format("{:.{}e}", number, digits - 1);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  const int decimals = std::clamp(digits - 1 - exponent, 0, 17);
  std::string text = fmt::format("{:.{}f}", number, decimals);
  if (decimals > 0) text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return size >= first_separated ? with_separators(std::move(text)) : text;
}

}  // namespace

std::string clean(std::string_view text) { return quotable(text, text.npos); }

std::string quotable(std::string_view text, std::size_t longest) {
  std::string out;
  while (!text.empty() && out.size() < longest) text.remove_prefix(append_first(text, out));
  return text.empty() ? out : out + "...";
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
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

std::string format_percent(double fraction) {
  if (!std::isfinite(fraction)) return not_finite;
  return plain(fraction * 100, 3) + " %";
}

std::string format_signed_percent(double fraction) {
  return (fraction < 0 ? "-" : "+") + format_percent(std::abs(fraction));
}

std::string format_count(double number) {
  if (!std::isfinite(number) || number != std::trunc(number)) return format_number(number);
  return with_separators(fmt::format("{:.0f}", number));
}

std::string counted(std::size_t number, const std::string& one, const std::string& many) {
  const std::string several = many.empty() ? one + "s" : many;
  return fmt::format("{} {}", format_count(static_cast<double>(number)),
                     number == 1 ? one : several);
}

std::string format_number(double number) { return plain(number, significant_digits); }

std::string format_exact(double number) {
  if (!std::isfinite(number)) return not_finite;
  if (number == std::trunc(number) && std::abs(number) < 1e15) return format_count(number);
  return fmt::format("{}", number);
}

std::string format_quantity(double value, const std::string& unit) {
  if (!std::isfinite(value)) return not_finite;
  const Scale scale = prefixed_unit(value, unit);
  const bool exact =
      prefixes_of(unit).empty() && value == std::trunc(value) && std::abs(value) < 1e15;
  const std::string number = plain(value / scale.factor, exact ? 17 : significant_digits);
  return scale.unit.empty() ? number : number + " " + scale.unit;
}

std::string format_axis_value(const std::string& axis, const AxisValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return format_number(*number);
  const auto whole = std::get<std::int64_t>(value);
  const bool bytes = axis == "size" || axis.ends_with("bytes");
  return bytes ? format_bytes(static_cast<double>(whole)) : std::to_string(whole);
}

Scale prefixed_unit(double typical, const std::string& unit) {
  const std::span<const Prefix> prefixes = prefixes_of(unit);
  if (prefixes.empty()) return {1, unit == "C" ? "°C" : unit};
  // Zero has no size: the unit itself.
  const double size = std::isfinite(typical) && typical != 0 ? std::abs(typical) : 1;
  const Prefix* chosen = &prefixes.front();
  for (const Prefix& prefix : prefixes)
    if (size / prefix.factor >= rounds_to_1) chosen = &prefix;
  return {chosen->factor, chosen->symbol + unit};
}

}  // namespace fathom
