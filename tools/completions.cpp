#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "results/flag_checks.h"
#include "tools/command_line.h"

namespace fathom {
namespace {

/// "-h", "--help".
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// What follows the flag: "NAME", "M N K"; empty for a switch.
std::string value_of(const CLI::Option& option) {
  return option.get_type_size() == 0 ? "" : option.get_type_name();
}

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

std::vector<CLI::App*> commands_of(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

CLI::Option* flag_of(CLI::App& command, const std::string& name) {
  return name.starts_with('-') ? command.get_option_no_throw(name) : nullptr;
}

/// What a shell completes a value by itself with; empty: nothing.
std::string kind_of(const CLI::Option& option) {
  const bool positional = option.get_positional();
  const std::string kind = positional ? option.get_name(true) : value_of(option);
  if (kind == "DIR") return ":folders\n";
  // What a command is about is a document, unless it is a folder or one of a few words.
  const bool file = kind == "FILE" || kind == "PROGRAM" || kind == "BUILD_OR_COMMAND";
  return file || positional ? ":files\n" : "";
}

}  // namespace

std::string completions(CLI::App& root, std::span<const std::string> words) {
  CLI::App* command = &root;
  CLI::Option* flag = nullptr;  // whose value the last word is
  std::size_t positionals = 0;  // that are given
  for (const std::string& word : words.first(words.size() - 1)) {
    if (word == "=") continue;
    const bool is_value = flag && !value_of(*flag).empty();
    flag = flag_of(*command, word);
    const auto below = commands_of(*command);
    const auto named = std::ranges::find(below, word, &CLI::App::get_name);
    if (named != below.end())
      command = *named;
    else if (!is_value && !word.starts_with('-'))
      ++positionals;
  }
  std::string last = words.back() == "=" ? "" : words.back(), kept;
  if (const auto equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    flag = flag_of(*command, last.substr(0, equals));
    kept = last.substr(0, equals + 1);
  }
  std::string text;
  const auto offer = [&](const std::string& word, const std::string& meaning) {
    if (word.starts_with(last)) text += fmt::format("{}\t{}\n", word, meaning);
  };
  const auto offer_values = [&](CLI::Option& option) {
    const auto choices = choices_of(option);
    for (const std::string& choice : choices) offer(kept + choice, "");
    if (choices.empty()) text += kind_of(option);
  };
  if (flag && !value_of(*flag).empty()) {
    offer_values(*flag);
    return text;
  }
  for (const CLI::App* below : commands_of(*command))
    offer(below->get_name(), below->get_description());
  for (CLI::Option* option : command->get_options()) {
    const bool positional = option->get_positional();
    if (positional == last.starts_with('-')) continue;
    if (!positional) {
      for (const std::string& name : names_of(*option)) offer(name, option->get_description());
    } else if (positionals == 0 || option->get_expected_max() > 1) {
      offer_values(*option);
      break;
    } else {
      --positionals;
    }
  }
  return text;
}

}  // namespace fathom
