#include "results/flag_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

#include "results/parse_number.h"
#include "results/suggestion.h"

namespace fathom {
namespace {

std::optional<double> finite(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
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
        const auto value = parse_number<std::uint64_t>(text);
        return value && *value >= lowest && *value <= highest
                   ? ""
                   : fmt::format("`{}` is not a whole number {}", text, range);
      },
      "");
}

CLI::Validator number() {
  return CLI::Validator(
      [](std::string& text) {
        return finite(text) ? "" : fmt::format("`{}` is not a finite number", text);
      },
      "");
}

CLI::Validator positive_number() {
  return CLI::Validator(
      [](std::string& text) {
        const auto value = finite(text);
        return value && *value > 0 ? "" : fmt::format("`{}` is not a number above 0", text);
      },
      "");
}

CLI::Validator seconds() {
  return CLI::Validator(
      [](std::string& text) {
        const auto value = finite(text);
        return value && *value > 0 && *value <= 1e6
                   ? ""
                   : fmt::format("`{}` is not a number of seconds above 0, 1000000 at most", text);
      },
      "");
}

CLI::Validator ordinal() { return whole_number(0, std::numeric_limits<int>::max()); }

CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& text) {
        return text.empty() ? std::string("it is empty, a path was expected") : "";
      },
      "");
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string list = fmt::format("{}{}", one_of_words, fmt::join(words, " "));
  return CLI::Validator(
      [words = std::move(words)](std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
        const auto meant = digits ? std::nullopt : closest_match(text, words);
        return fmt::format("`{}` is none of {}{}", text, fmt::join(words, ", "),
                           meant ? fmt::format(" (did you mean `{}`?)", *meant) : "");
      },
      "", list);
}

std::string complaint(const CLI::ParseError& error) {
  static const std::pair<std::regex, const char*> in_our_words[] = {
      {std::regex("(.+): 1 required .* missing"), "$1 takes a value, and none came"},
      {std::regex("(.+): ([0-9]+) required .* missing"), "$1 takes $2 values, and none came"},
      {std::regex("(.+): At least ([0-9]+) required but received ([0-9]+)"),
       "$1 takes $2 values, and $3 came"},
      {std::regex("(.+): At Most 1 required but received ([0-9]+)"),
       "$1 takes one value, and $2 came"},
      {std::regex("Could not convert: (.+) = (.*)"), "$1 does not take `$2`"}};
  const std::string said = error.what();
  for (const auto& [words, ours] : in_our_words) {
    if (std::regex_match(said, words)) return std::regex_replace(said, words, ours);
  }
  return said;
}

}  // namespace fathom
