#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fathom {

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

/// What a shell may offer in place of the last of these words, of which those before it are
/// complete: lines of a word, a tab and what it means, or ":files" or ":folders", which the shell
/// knows itself. bash makes three words of --flag=value.
std::string completions(const CommandHelp& root, std::span<const std::string> words);

}  // namespace fathom
