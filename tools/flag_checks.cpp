#include "tools/flag_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "results/suggestion.h"

namespace fathom {
namespace {

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace

CLI::Validator whole_number(std::uint64_t lowest) {
  return whole_number(lowest, std::numeric_limits<std::uint64_t>::max());
}

CLI::Validator whole_number(std::uint64_t lowest, std::uint64_t highest) {
  const bool open = highest == std::numeric_limits<std::uint64_t>::max();
  const std::string range =
      open ? fmt::format("from {} on", lowest) : fmt::format("from {} to {}", lowest, highest);
  return CLI::Validator(
      [=](std::string& text) {
        const bool digits = !text.empty() && text.size() <= 18 &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        const bool good = digits && std::stoull(text) >= lowest && std::stoull(text) <= highest;
        return good ? "" : fmt::format("`{}` is not a whole number {}", text, range);
      },
      "");
}

CLI::Validator positive_number() {
  return CLI::Validator(
      [](std::string& text) {
        const auto value = number(text);
        return value && *value > 0 ? "" : fmt::format("`{}` is not a number above 0", text);
      },
      "");
}

CLI::Validator seconds() {
  return CLI::Validator(
      [](std::string& text) {
        const auto value = number(text);
        return value && *value > 0 && *value <= 1e6
                   ? ""
                   : fmt::format("`{}` is not a number of seconds above 0", text);
      },
      "");
}

CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator(
      [words = std::move(words)](std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return fmt::format("`{}` is none of {}.{}", text, fmt::join(words, ", "),
                           did_you_mean(text, words));
      },
      "");
}

}  // namespace fathom
