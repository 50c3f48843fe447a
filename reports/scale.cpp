#include "reports/scale.h"

#include <algorithm>
#include <cmath>

#include "reports/markdown.h"
#include "results/statistics.h"

namespace fathom::reports {
namespace {

/// "4.28" as "4.280": format_number leaves out zeros, which a column needs to line up.
std::string with_zeros(std::string text) {
  if (text.find_first_not_of("-0123456789.,") != std::string::npos) return text;
  const std::size_t first = text.find_first_of("123456789");
  if (first == std::string::npos) return text;  // 0 is exact
  const auto digits = [&] {
    return std::count_if(text.begin() + static_cast<std::ptrdiff_t>(first), text.end(),
                         [](char c) { return c >= '0' && c <= '9'; });
  };
  if (digits() < 4 && text.find('.') == std::string::npos) text += '.';
  while (digits() < 4) text += '0';
  return text;
}

}  // namespace

std::vector<std::string> figures(const std::vector<std::optional<double>>& values,
                                 const Scale& scale) {
  const bool whole = std::all_of(values.begin(), values.end(), [&](const auto& value) {
    return !value || !std::isfinite(*value) ||
           *value / scale.factor == std::trunc(*value / scale.factor);
  });
  std::vector<std::string> out;
  for (const std::optional<double>& value : values) {
    if (!value) {
      out.push_back("–");
    } else if (whole) {
      out.push_back(format_count(*value / scale.factor));
    } else {
      out.push_back(with_zeros(format_number(*value / scale.factor)));
    }
  }
  return out;
}

Scale scale_for(std::vector<double> values, const std::string& unit) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  for (double& value : values) value = std::abs(value);
  return prefixed_unit(values.empty() ? 0.0 : median(values), unit);
}

std::string quantity(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "–";
  std::string text = escape_text(format_quantity(*value, unit));
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at)) {
    text.replace(at, 1, "\u00A0");
  }
  return text;
}

std::string interval_text(const Interval& interval, const Scale& scale) {
  Interval scaled = interval;
  scaled.low /= scale.factor;
  scaled.high /= scale.factor;
  const std::string text = format_interval(scaled, "");
  const std::string between = " to ";
  const std::size_t at = text.find(between);
  if (at == std::string::npos) return text;
  std::string low = text.substr(0, at), high = text.substr(at + between.size());
  const auto decimals = [](const std::string& number) {
    const std::size_t point = number.find('.');
    return point == std::string::npos ? std::size_t{0} : number.size() - point - 1;
  };
  const std::size_t wanted = std::max(decimals(low), decimals(high));
  for (std::string* end : {&low, &high}) {
    if (end->find_first_not_of("-0123456789.,") != std::string::npos) continue;
    if (decimals(*end) == 0 && wanted > 0) *end += '.';
    end->append(wanted - decimals(*end), '0');
  }
  return low + between + high;
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string without_full_stop(std::string text) {
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  return text;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
  return text;
}

}  // namespace fathom::reports
