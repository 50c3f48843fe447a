#include "reports/plot_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "reports/plot_text.h"
#include "results/format.h"

namespace fathom::plots {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// 1, 2 or 5 times a power of ten, at least `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string tick_text(double value, bool bytes) {
  return bytes ? format_bytes(value) : format_number(value);
}

}  // namespace

std::string label_with_unit(const std::string& label, const std::string& base,
                            const std::string& unit) {
  const std::string own = " (" + base + ")";
  const bool ends_with_own = !base.empty() && label.ends_with(own);
  const std::string name = ends_with_own ? label.substr(0, label.size() - own.size()) : label;
  if (unit.empty()) return name;
  if (base.size() > 3 && lower(name).find(lower(base)) != std::string::npos) return name;
  return name + " (" + unit + ")";
}

bool in_bytes(const std::string& axis, const std::string& label) {
  const auto says_bytes = [](const std::string& text) {
    const std::string small = lower(text);
    return text.find("(B)") != std::string::npos || small.ends_with("bytes") ||
           small.ends_with("(bytes)") || small.starts_with("bytes ");
  };
  return axis == "size" || says_bytes(axis) || says_bytes(label);
}

std::string ticks_script(const char* axis, const Ticks& ticks) {
  std::string list;
  for (const auto& [at, text] : ticks)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", quoted_tick(text), at);
  return fmt::format("set {} ({})\n", axis, list);
}

double fraction(const Scale& scale, double value) {
  if (scale.kind == Scale::Kind::linear) return (value - scale.low) / (scale.high - scale.low);
  return std::log(value / scale.low) / std::log(scale.high / scale.low);
}

Scale linear_scale(double low, double high, bool from_zero, bool bytes, int count) {
  Scale scale;
  if (from_zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  if (!(high - low > 1e-12 * std::max(std::abs(low), std::abs(high)))) {
    // One value: some room on both sides of it.
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    if (!from_zero) low -= room;
    high += room;
  }
  const double wanted = (high - low) / count;
  const double step =
      bytes ? std::max(1.0, std::exp2(std::ceil(std::log2(wanted)))) : round_step(wanted);
  const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
  scale.low = first * step;
  scale.high = last * step;
  for (double i = first; i <= last; ++i)
    scale.ticks.emplace_back(i * step, tick_text(i * step, bytes));
  return scale;
}

Scale log2_scale(double low, double high, bool bytes, int count) {
  Scale scale;
  scale.kind = Scale::Kind::log2;
  if (low == high) return {low / 2, high * 2, Scale::Kind::log2, {{low, tick_text(low, bytes)}}};
  const double first = std::floor(std::log2(low) + 1e-9), last = std::ceil(std::log2(high) - 1e-9);
  const double step = std::max(1.0, std::ceil((last - first + 1) / count));
  for (double i = first; i <= last; i += step) {
    scale.ticks.emplace_back(std::exp2(i), tick_text(std::exp2(i), bytes));
  }
  // A margin, so that the outermost points do not sit on the frame.
  const double margin = std::max(0.15, 0.025 * (std::log2(high) - std::log2(low)));
  scale.low = std::exp2(std::log2(low) - margin);
  scale.high = std::exp2(std::log2(high) + margin);
  return scale;
}

Scale log10_scale(double low, double high, const std::string& unit) {
  Scale scale;
  scale.kind = Scale::Kind::log10;
  const double decades = std::log10(high) - std::log10(low);
  const double margin = std::max(0.05, 0.04 * decades);
  scale.low = std::pow(10, std::log10(low) - margin);
  scale.high = std::pow(10, std::log10(high) + margin);
  const double every = std::max(1.0, std::ceil(decades / 8));
  for (double power = std::floor(std::log10(scale.low)); power <= std::log10(scale.high);
       power += every) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (decades > 2.5 && factor != 1) continue;
      const double value = factor * std::pow(10, power);
      if (value < scale.low || value > scale.high) continue;
      scale.ticks.emplace_back(value, format_quantity(value, unit));
    }
  }
  if (scale.ticks.size() >= 2) return scale;
  scale.ticks.clear();
  for (const auto& [value, text] : linear_scale(scale.low, scale.high, false, false, 5).ticks) {
    if (value < scale.low || value > scale.high) continue;
    scale.ticks.emplace_back(value, format_quantity(value, unit));
  }
  return scale;
}

}  // namespace fathom::plots
