#include "results/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

namespace fathom {
namespace {

constexpr int significant_digits = 4;
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

/// Decimals with which `number` has the given significant digits.
int decimals_for(double number, int digits) {
  if (number == 0) return 0;
  // What rounding makes of it counts: 9.9996 is 10.00.
  const std::string rounded = fmt::format("{:.{}e}", std::abs(number), digits - 1);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  return std::clamp(digits - 1 - exponent, 0, 17);
}

/// Without trailing zeros.
std::string fixed(double number, int decimals) {
  std::string text = fmt::format("{:.{}f}", number, decimals);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
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

std::string plain(double number, int digits) {
  if (!std::isfinite(number)) return not_finite;
  if (number != 0 && (std::abs(number) < 1e-6 || std::abs(number) >= 1e15))
    return fmt::format("{:.{}g}", number, digits);
  std::string text = fixed(number, decimals_for(number, digits));
  return std::abs(number) >= first_separated ? with_separators(std::move(text)) : text;
}

/// The largest prefix that leaves at least 1 of the rounded number, or the smallest there is. Zero
/// has no size: the unit itself.
const Prefix& prefix_for(double number, std::span<const Prefix> prefixes) {
  if (number == 0) return *std::ranges::find(prefixes, 1.0, &Prefix::factor);
  const Prefix* chosen = &prefixes.front();
  for (const Prefix& prefix : prefixes) {
    const double scaled = std::abs(number) / prefix.factor;
    if (scaled >= 1 || fixed(scaled, decimals_for(scaled, significant_digits)) == "1")
      chosen = &prefix;
  }
  return *chosen;
}

std::string with_unit(const std::string& number, const std::string& unit) {
  return unit.empty() ? number : number + " " + unit;
}

}  // namespace

std::string format_percent(double fraction) {
  if (!std::isfinite(fraction)) return not_finite;
  return plain(fraction * 100, 3) + " %";
}

std::string format_signed_percent(double fraction) {
  return (fraction < 0 ? "-" : "+") + format_percent(std::abs(fraction));
}

std::string format_count(double number) {
  if (!std::isfinite(number)) return not_finite;
  if (number != std::trunc(number)) return format_number(number);
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
  return with_unit(plain(value / scale.factor, exact ? 17 : significant_digits), scale.unit);
}

std::string format_interval(const Interval& interval, const std::string& unit) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return not_finite;
  const Scale scale =
      prefixed_unit(std::max(std::abs(interval.low), std::abs(interval.high)), unit);
  std::string low, high;
  for (int digits = significant_digits; digits <= 8; ++digits) {
    low = plain(interval.low / scale.factor, digits);
    high = plain(interval.high / scale.factor, digits);
    if (low != high || interval.low == interval.high) break;
  }
  return with_unit(fmt::format("{} to {}", low, high), scale.unit);
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
  const Prefix& prefix = prefix_for(std::isfinite(typical) ? typical : 0, prefixes);
  return {prefix.factor, prefix.symbol + unit};
}

}  // namespace fathom
