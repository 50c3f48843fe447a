#include "tools/manual/command_tree.h"

#include <fmt/format.h>

namespace fathom::manual {
namespace {

std::string path_of(const CommandHelp& command) { return joined(command.path, " "); }

/// In single quotes; `quote` is what a single quote becomes.
std::string quoted(const std::string& text, const std::string& quote) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? quote : std::string(1, c);
  return result + "'";
}
std::string quoted(const std::string& text) { return quoted(text, "'\\''"); }

/// The paths of all commands below the root, as the alternatives of a shell's `case`.
std::string known_paths(const CommandHelp& root, const std::string& between) {
  std::vector<std::string> paths;
  for (const CommandHelp* command : all_of(root))
    if (command->path.size() > 1) paths.push_back(quoted(path_of(*command)));
  return joined(paths, between);
}

// --- bash ----------------------------------------------------------------------------------------

std::string bash_value(const Argument& argument) {
  if (!argument.choices.empty())
    return fmt::format("compgen -W {} -- \"$current\"", quoted(joined(argument.choices, " ")));
  if (is_folder(argument)) return "compgen -d -- \"$current\"";
  return is_file(argument) ? "compgen -f -- \"$current\"" : "true";
}

constexpr const char* bash_start = R"(# bash completion of fathom, made from its command line
_fathom() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} at=fathom word
  # bash splits --flag=value into three words.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$at $word" in
      {}) at+=" $word" ;;
    esac
  done
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(_fathom_words | sort -u))
}}
_fathom_words() {{
  local IFS=$' \t\n'
  case "$at $previous" in
)";

// --- zsh -----------------------------------------------------------------------------------------

std::string zsh_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("\\[]:").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_value(const Argument& argument) {
  if (!argument.choices.empty()) return fmt::format("({})", joined(argument.choices, " "));
  if (is_folder(argument)) return "_files -/";
  return is_file(argument) ? "_files" : " ";
}

std::string zsh_argument(const Argument& argument) {
  const std::string many = argument.several ? "*" : "";
  if (argument.positional)
    return quoted(fmt::format("{}:{}:{}", many, argument.names.front(), zsh_value(argument)));
  std::vector<std::string> words;
  for (const auto& name : argument.names) {
    std::string spec = many + name;
    const bool one = !argument.value.empty() && argument.value.find(' ') == std::string::npos;
    if (one) spec += name.starts_with("--") ? "=" : "+";
    spec += fmt::format("[{}]", zsh_escaped(argument.description));
    std::string rest = argument.value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      spec += fmt::format(":{}:{}", zsh_escaped(rest.substr(0, end)), zsh_value(argument));
      rest.erase(0, end + 1);
    }
    words.push_back(quoted(spec));
  }
  return joined(words, " ");
}

constexpr const char* zsh_start = R"(#compdef fathom
# zsh completion of fathom, made from its command line
_fathom() {{
  local at=fathom context state state_descr line
  local -a commands
  typeset -A opt_args
  integer index=2
  while ((index < CURRENT)); do
    case "$at $words[index]" in
      ({})
        at+=" $words[index]" words[index]=() ; ((CURRENT--)) ;;
      (*) ((index++)) ;;
    esac
  done
  case "$at" in
)";

// --- fish ----------------------------------------------------------------------------------------

std::string fish_value(const Argument& argument) {
  if (!argument.choices.empty())
    return fmt::format(" -x -a {}", quoted(joined(argument.choices, " ")));
  if (is_folder(argument)) return " -x -a '(__fish_complete_directories)'";
  return is_file(argument) ? " -r -F" : " -x";
}

std::string fish_argument(const Argument& argument) {
  if (argument.positional) {
    if (!argument.choices.empty())
      return fmt::format(" -a {}", quoted(joined(argument.choices, " ")));
    return is_folder(argument) ? " -a '(__fish_complete_directories)'"
           : is_file(argument) ? " -F"
                               : "";
  }
  std::string words;
  for (const auto& name : argument.names)
    words += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!argument.value.empty()) words += fish_value(argument);
  return words + " -d " + quoted(argument.description, "\\'");
}

constexpr const char* fish_start = R"(# fish completion of fathom, made from its command line
function __fish_fathom_at
  set -l at fathom
  set -l words (commandline -opc)
  for word in $words[2..-1]
    switch "$at $word"
      case {}
        set at "$at $word"
    end
  end
  test "$at" = "$argv"
end
complete -c fathom -f
)";

}  // namespace

std::string bash_completion(const CommandHelp& root) {
  std::string text = fmt::format(bash_start, known_paths(root, "|")), words;
  for (const CommandHelp* command : all_of(root)) {
    const std::string at = path_of(*command);
    std::vector<std::string> flags;
    std::string others;
    for (const Argument& argument : command->arguments) {
      if (argument.positional) {
        others += bash_value(argument) + "; ";
        continue;
      }
      for (const auto& name : argument.names) {
        flags.push_back(name);
        if (!argument.value.empty())
          text += fmt::format("    '{} {}') {}; return ;;\n", at, name, bash_value(argument));
      }
    }
    for (const CommandHelp& sub : command->commands)
      others += fmt::format("compgen -W {} -- \"$current\"; ", sub.path.back());
    words += fmt::format("    '{}:'-*) compgen -W '{}' -- \"$current\" ;;\n    '{}:'*) {};;\n", at,
                         joined(flags, " "), at, others);
  }
  return text + "  esac\n  case \"$at:$current\" in\n" + words +
         "  esac\n}\ncomplete -F _fathom fathom\n";
}

std::string zsh_completion(const CommandHelp& root) {
  std::string text = fmt::format(zsh_start, known_paths(root, "|"));
  for (const CommandHelp* command : all_of(root)) {
    text += fmt::format("    ({})\n", quoted(path_of(*command)));
    if (!command->commands.empty()) {
      text += "      commands=(\n";
      for (const CommandHelp& sub : command->commands)
        text += fmt::format("        {}\n", quoted(sub.path.back() + ":" + sub.description));
      text += "      )\n";
    }
    text += "      _arguments -S";
    for (const Argument& argument : command->arguments)
      text += " \\\n        " + zsh_argument(argument);
    if (!command->commands.empty()) text += " \\\n        '1: :->commands'";
    text += " ;;\n";
  }
  return text + "  esac\n  [[ $state != commands ]] || _describe -t commands command commands\n}\n"
                "_fathom \"$@\"\n";
}

std::string fish_completion(const CommandHelp& root) {
  std::string text = fmt::format(fish_start, known_paths(root, " "));
  for (const CommandHelp* command : all_of(root)) {
    const std::string start =
        fmt::format("complete -c fathom -n '__fish_fathom_at {}'", path_of(*command));
    for (const CommandHelp& sub : command->commands)
      text += fmt::format("{} -a {} -d {}\n", start, sub.path.back(),
                          quoted(sub.description, "\\'"));
    for (const Argument& argument : command->arguments)
      if (const std::string words = fish_argument(argument); !words.empty())
        text += start + words + "\n";
  }
  return text;
}

}  // namespace fathom::manual
