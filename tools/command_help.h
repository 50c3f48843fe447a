#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
}

namespace fathom {

/// What a shell may offer in place of the last of these words, of which those before it are
/// complete: lines of a word, a tab and what it means, or ":files" or ":folders", which the shell
/// knows itself. bash makes three words of --flag=value.
std::string completions(CLI::App& root, std::span<const std::string> words);

}  // namespace fathom
