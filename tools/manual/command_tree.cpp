#include "tools/manual/command_tree.h"

#include <CLI/CLI.hpp>
#include <set>
#include <sstream>

#include "results/flag_checks.h"

namespace fathom::manual {
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
  for (CLI::Option* option : app.get_options())
    command.arguments.push_back(argument_of(*option));
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    command.commands.push_back(help_below(*sub, path));
  return command;
}

}  // namespace

CommandHelp help_of(CLI::App& app) { return help_below(app, {}); }

std::vector<const CommandHelp*> all_of(const CommandHelp& command) {
  std::vector<const CommandHelp*> all{&command};
  for (const CommandHelp& sub : command.commands)
    for (const CommandHelp* below : all_of(sub)) all.push_back(below);
  return all;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string kind_of(const Argument& argument) {
  return argument.positional ? argument.names.front() : argument.value;
}

bool is_folder(const Argument& argument) { return kind_of(argument) == "DIR"; }

bool is_file(const Argument& argument) {
  static const std::set<std::string> files{"FILE", "PROGRAM", "BUILD_OR_COMMAND"};
  // What a command is about is a document, unless it is a folder or one of a few words.
  if (argument.positional) return argument.choices.empty() && !is_folder(argument);
  return files.contains(argument.value);
}

}  // namespace fathom::manual
