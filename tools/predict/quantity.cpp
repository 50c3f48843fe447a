#include "tools/predict/quantity.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <limits>
#include <map>
#include <string_view>

namespace fathom {
namespace {

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

}  // namespace fathom
