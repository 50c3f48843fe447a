#pragma once

#include <string>

#include "tools/manual/command_tree.h"

namespace fathom::manual {

// The completion of all commands, flags and enumerated values, as each shell loads it.
std::string bash_completion(const CommandHelp& root);
std::string zsh_completion(const CommandHelp& root);
std::string fish_completion(const CommandHelp& root);

}  // namespace fathom::manual
