#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <sstream>
#include <utility>

#include "results/flag_checks.h"
#include "tools/command_line.h"

namespace fathom {
namespace {

/// The only values that it takes; empty if there are others.
std::vector<std::string> choices_of(CLI::Option& option) try {
  for (int i = 0;; ++i) {
    const std::string name = option.get_validator(i)->get_name(), start = one_of_words;
    if (!name.starts_with(start)) continue;
    std::istringstream words(name.substr(start.size()));
    return {std::istream_iterator<std::string>(words), {}};
  }
} catch (const CLI::OptionNotFound&) {  // CLI11 tells in no other way how many there are
  return {};
}

}  // namespace

std::string completions(CLI::App& root, std::span<const std::string> words) {
  CLI::App* command = &root;
  CLI::Option* flag = nullptr;  // whose value the last word is
  std::size_t positionals = 0;  // that are given
  const auto value_flag = [&](const std::string& name) {
    CLI::Option* option = name.starts_with('-') ? command->get_option_no_throw(name) : nullptr;
    return option && option->get_type_size() != 0 ? option : nullptr;
  };
  for (const std::string& word : words.first(words.size() - 1)) {
    if (word == "=") continue;
    const bool is_value = std::exchange(flag, value_flag(word)) != nullptr;
    const auto below = command->get_subcommands([&](auto* app) { return app->get_name() == word; });
    if (!below.empty())
      command = below.front();
    else if (!is_value && !word.starts_with('-'))
      ++positionals;
  }
  std::string last = words.back() == "=" ? "" : words.back(), kept;
  if (const auto equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    flag = value_flag(last.substr(0, equals));
    kept = last.substr(0, equals + 1);
  }
  std::string text;
  const auto offer = [&](const std::string& word, const std::string& meaning) {
    if (word.starts_with(last)) text += fmt::format("{}\t{}\n", word, meaning);
  };
  const auto offer_values = [&](CLI::Option& option) {
    for (const std::string& choice : choices_of(option)) offer(kept + choice, "");
  };
  if (flag) {
    offer_values(*flag);
    return text;
  }
  for (const CLI::App* below : command->get_subcommands([](CLI::App*) { return true; }))
    offer(below->get_name(), below->get_description());
  for (CLI::Option* option : command->get_options()) {
    if (last.starts_with('-')) {
      for (const auto& name : option->get_snames()) offer("-" + name, option->get_description());
      for (const auto& name : option->get_lnames()) offer("--" + name, option->get_description());
    } else if (option->get_positional() && positionals-- == 0) {
      offer_values(*option);
    }
  }
  return text;
}

}  // namespace fathom
