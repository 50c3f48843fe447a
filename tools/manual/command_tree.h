#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fathom::manual {

/// A flag or a positional argument, as its help describes it.
struct Argument {
  std::vector<std::string> names;  ///< "-h", "--help"; of a positional argument its one name
  std::string value;               ///< what follows the flag: "NAME", "M N K"; empty for a switch
  std::string description;
  std::string standard;  ///< the value where none is given; empty if the help names none
  bool positional = false, required = false, several = false;
  std::vector<std::string> choices;  ///< the only values it takes; empty if there are others
};

struct CommandHelp {
  std::vector<std::string> path;  ///< "fathom", "predict", "shared"
  std::string description, footer;
  std::vector<Argument> arguments;
  std::vector<CommandHelp> commands;
};

CommandHelp help_of(CLI::App& app);

/// The command and all below it, each before its own.
std::vector<const CommandHelp*> all_of(const CommandHelp& command);

std::string joined(const std::vector<std::string>& words, const std::string& between);

/// What the help calls the value: "DIR".
std::string kind_of(const Argument& argument);
bool is_folder(const Argument& argument);
bool is_file(const Argument& argument);

/// "fathom-predict-shared", of the page in section 1.
std::string page_name(const CommandHelp& command);

/// The page of a command in roff. `date` is ISO 8601's.
std::string man_page(const CommandHelp& command, const std::string& version,
                     const std::string& date);

// The completion of all commands, flags and enumerated values, as each shell loads it.
std::string bash_completion(const CommandHelp& root);
std::string zsh_completion(const CommandHelp& root);
std::string fish_completion(const CommandHelp& root);

}  // namespace fathom::manual
