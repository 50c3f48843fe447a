#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}

namespace fathom {

// An argument, as a command's help describes it.

/// "-h", "--help"; of a positional argument its one name.
std::vector<std::string> names_of(const CLI::Option& option);
/// What follows the flag: "NAME", "M N K"; empty for a switch.
std::string value_of(const CLI::Option& option);
/// The only values that it takes; empty if there are others.
std::vector<std::string> choices_of(CLI::Option& option);

/// What a shell may offer in place of the last of these words, of which those before it are
/// complete: lines of a word, a tab and what it means, or ":files" or ":folders", which the shell
/// knows itself. bash makes three words of --flag=value.
std::string completions(CLI::App& root, std::span<const std::string> words);

}  // namespace fathom
