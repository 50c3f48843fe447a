#include "results/flag_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <regex>
#include <string_view>
#include <utility>

#include "results/text.h"

namespace fathom {
namespace {

/// Says "`x` is not <what>" of a value that is not good.
template <class Good>
CLI::Validator is(std::string what, Good good) {
  return CLI::Validator(
      [what = std::move(what), good](const std::string& text) {
        return good(text) ? std::string() : fmt::format("`{}` is not {}", text, what);
      },
      "");
}

CLI::Validator number_within(const char* what, double above,
                             double most = std::numeric_limits<double>::max()) {
  return is(what, [=](std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    const auto value = parse_number<double>(text);
    return value && *value > above && *value <= most;
  });
}

/// Hands the plain number on, the one in front times what its suffix stands for, where it is from
/// `least` to `most`.
std::string plain(std::string& text, std::string_view number, double least, double most,
                  const std::string& what) {
  static const std::map<std::string_view, double> suffixes{
      {"", 1},        {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},   {"P", 1e15},
      {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}};
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  std::string_view suffix = number.substr(static_cast<std::size_t>(end - number.data()));
  while (suffix.starts_with(' ')) suffix.remove_prefix(1);
  const auto factor = suffixes.find(suffix);
  if (factor != suffixes.end()) value *= factor->second;
  if (error != std::errc() || factor == suffixes.end() || !(value >= least && value <= most))
    return fmt::format("`{}` is not {}", text, what);
  text = fmt::format("{}", value);
  return "";
}

}  // namespace

CLI::Validator whole_number(std::uint64_t lowest, std::uint64_t highest) {
  const bool open = highest == std::numeric_limits<std::uint64_t>::max();
  return is(open ? fmt::format("a whole number from {} on", lowest)
                 : fmt::format("a whole number from {} to {}", lowest, highest),
            [=](const std::string& text) {
              const auto value = parse_number<std::uint64_t>(text);
              return value && *value >= lowest && *value <= highest;
            });
}

CLI::Validator number() {
  return number_within("a finite number", -std::numeric_limits<double>::infinity());
}

CLI::Validator positive_number() { return number_within("a number above 0", 0); }

CLI::Validator seconds() {
  return number_within("a number of seconds above 0, 1000000 at most", 0, 1e6);
}

CLI::Validator quantity(const std::string& unit) {
  return {[unit](std::string& text) {
            std::string_view number = text;
            if (number.ends_with(unit)) number.remove_suffix(unit.size());
            return plain(text, number, 0, std::numeric_limits<double>::max(),
                         "a number from 0 on, such as 1.5e9, 1.5G or 4Gi" + unit);
          },
          ""};
}

CLI::Validator model_size() {
  return {[](std::string& text) {
            std::string number = text;
            if (number.ends_with('B') || number.ends_with('b')) number.back() = 'G';
            return plain(text, number, 1, 1e18,
                         "a number of parameters, such as 7e9, 7B or 8030261248");
          },
          ""};
}

CLI::Validator ordinal() { return whole_number(0, std::numeric_limits<int>::max()); }

CLI::Validator not_empty(const std::string& noun) {
  return CLI::Validator(
      [noun](std::string& text) {
        return text.empty() ? "it is empty, " + noun + " was expected" : "";
      },
      "");
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string list = fmt::format("{}{}", one_of_words, fmt::join(words, " "));
  return CLI::Validator(
      [words = std::move(words)](std::string& text) {
        if (std::ranges::count(words, text) > 0) return std::string();
        const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
        const auto meant = digits ? std::nullopt : closest_match(text, words);
        return fmt::format("`{}` is none of {}{}", text, fmt::join(words, ", "),
                           meant ? fmt::format(" (did you mean `{}`?)", *meant) : "");
      },
      "", list);
}

std::string did_you_mean_flag(const CLI::App& app, const std::string& flag) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  return did_you_mean(flag, known);
}

std::string complaint(const CLI::ParseError& error) {
  static const std::pair<std::regex, const char*> in_our_words[] = {
      {std::regex("(.+): 1 required .* missing"), "$1 needs a value"},
      {std::regex("(.+): ([0-9]+) required .* missing"), "$1 needs $2 values"},
      {std::regex("(.+): At least ([0-9]+) required but received ([0-9]+)"),
       "$1 needs $2 values, not $3"},
      {std::regex("(.+): At Most 1 required but received ([0-9]+)"), "$1 takes one value, not $2"},
      {std::regex("Could not convert: (.+) = (.*)"), "$1 does not take `$2`"}};
  const std::string said = error.what();
  for (const auto& [words, ours] : in_our_words)
    if (std::regex_match(said, words)) return std::regex_replace(said, words, ours);
  return said;
}

}  // namespace fathom
