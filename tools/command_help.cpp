#include "tools/command_help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "results/flag_checks.h"

namespace fathom {
namespace {

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

Argument argument_of(CLI::Option& option) {
  Argument argument;
  argument.positional = option.get_positional();
  if (argument.positional) argument.names.push_back(option.get_name(true));
  for (const auto& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) argument.names.push_back("--" + name);
  if (option.get_type_size() != 0) {
    argument.value = option.get_type_name();
    argument.standard = option.get_default_str();
  }
  argument.description = option.get_description();
  argument.required = option.get_required();
  argument.several = option.get_expected_max() > 1;
  argument.choices = choices_of(option);
  return argument;
}

CommandHelp help_below(CLI::App& app, std::vector<std::string> path) {
  CommandHelp command;
  path.push_back(app.get_name());
  command.path = path;
  command.description = app.get_description();
  command.footer = app.get_footer();
  for (CLI::Option* option : app.get_options()) command.arguments.push_back(argument_of(*option));
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    command.commands.push_back(help_below(*sub, path));
  return command;
}

const std::string& name_of(const CommandHelp& command) { return command.path.back(); }

const Argument* flag_of(const CommandHelp& command, const std::string& name) {
  for (const Argument& argument : command.arguments)
    if (!argument.positional && std::ranges::count(argument.names, name) > 0) return &argument;
  return nullptr;
}

/// What a shell completes a value by itself with; empty: nothing.
std::string kind_of(const Argument& argument) {
  const std::string& kind = argument.positional ? argument.names.front() : argument.value;
  if (kind == "DIR") return ":folders\n";
  // What a command is about is a document, unless it is a folder or one of a few words.
  const bool file = kind == "FILE" || kind == "PROGRAM" || kind == "BUILD_OR_COMMAND";
  return file || argument.positional ? ":files\n" : "";
}

}  // namespace

CommandHelp help_of(CLI::App& app) { return help_below(app, {}); }

std::string completions(const CommandHelp& root, std::span<const std::string> words) {
  const CommandHelp* command = &root;
  const Argument* flag = nullptr;  // whose value the last word is
  std::size_t positionals = 0;     // that are given
  for (const std::string& word : words.first(words.size() - 1)) {
    if (word == "=") continue;
    const bool is_value = flag && !flag->value.empty();
    flag = flag_of(*command, word);
    const auto below = std::ranges::find(command->commands, word, name_of);
    if (below != command->commands.end())
      command = &*below;
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
  const auto offer_values = [&](const Argument& argument) {
    for (const std::string& choice : argument.choices) offer(kept + choice, "");
    if (argument.choices.empty()) text += kind_of(argument);
  };
  if (flag && !flag->value.empty()) {
    offer_values(*flag);
    return text;
  }
  for (const CommandHelp& below : command->commands) offer(name_of(below), below.description);
  for (const Argument& argument : command->arguments) {
    if (!argument.positional && last.starts_with('-')) {
      for (const std::string& name : argument.names) offer(name, argument.description);
    } else if (argument.positional && !last.starts_with('-')) {
      if (positionals == 0 || argument.several) {
        offer_values(argument);
        break;
      }
      --positionals;
    }
  }
  return text;
}

}  // namespace fathom
