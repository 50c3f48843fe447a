#include "tools/manual/command_tree.h"

#include <fmt/format.h>

#include <sstream>

namespace fathom::manual {
namespace {

/// Text that roff takes as it is; `dash` is what stands for "-", which is a hyphen by itself.
std::string escaped(const std::string& text, const char* dash = "-") {
  std::string roff;
  for (const char c : text) {
    if (c == '\\')
      roff += "\\e";
    else if (c == '-')
      roff += dash;
    else
      roff += c;
  }
  return roff.starts_with('.') || roff.starts_with('\'') ? "\\&" + roff : roff;
}

std::string literal(const std::string& text) { return escaped(text, "\\-"); }

/// Prose in lines of roff: a new sentence begins a new line, and no line is long.
std::string prose(const std::string& text) {
  constexpr std::size_t longest = 78;
  std::string lines, line;
  const auto end_line = [&] {
    if (!line.empty()) lines += escaped(line) + "\n";
    line.clear();
  };
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > longest) end_line();
    line += (line.empty() ? "" : " ") + word;
    if (word.ends_with('.') && !word.ends_with("..")) end_line();
  }
  end_line();
  return lines;
}

std::string synopsis(const CommandHelp& command) {
  std::string text = fmt::format(".B {}\n", literal(joined(command.path, " ")));
  if (!command.arguments.empty()) text += "[\\fIOPTION\\fR...]\n";
  for (const Argument& argument : command.arguments) {
    if (!argument.positional) continue;
    const std::string name = fmt::format("\\fI{}\\fR{}", argument.names.front(),
                                         argument.several ? "..." : "");
    text += argument.required ? name + "\n" : fmt::format("[{}]\n", name);
  }
  if (!command.commands.empty()) text += "\\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n";
  return text;
}

std::string option(const Argument& argument) {
  std::string text = ".TP\n";
  std::vector<std::string> names;
  for (const auto& name : argument.names)
    names.push_back(fmt::format("\\f{}{}\\fR", argument.positional ? 'I' : 'B', literal(name)));
  text += joined(names, ", ");
  if (!argument.positional && !argument.value.empty())
    text += fmt::format(" \\fI{}\\fR", literal(argument.value));
  text += "\n" + prose(argument.description + ".");
  if (!argument.choices.empty())
    text += prose(fmt::format("One of {}.", joined(argument.choices, ", ")));
  if (!argument.standard.empty()) text += prose(fmt::format("Default: {}.", argument.standard));
  if (argument.required) text += "Required.\n";
  return text;
}

/// A help's footer: indented lines are shown as they are, and the others are prose.
std::string footer(const std::string& text) {
  std::string roff = text.empty() || text.starts_with("Example") ? "" : ".SH NOTES\n";
  std::istringstream lines(text);
  bool example = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    if (const bool indented = line.starts_with(' '); indented != example) {
      roff += indented ? ".EX\n" : ".EE\n.PP\n";
      example = indented;
    }
    if (example)
      roff += literal(line.substr(line.find_first_not_of(' '))) + "\n";
    else if (line.starts_with("Example"))
      roff += ".SH EXAMPLES\n";
    else
      roff += prose(line);
  }
  return roff + (example ? ".EE\n" : "");
}

std::string see_also(const CommandHelp& command) {
  std::vector<std::string> pages;
  if (command.path.size() > 1) {
    CommandHelp above;
    above.path.assign(command.path.begin(), command.path.end() - 1);
    pages.push_back(page_name(above));
  }
  for (const CommandHelp& sub : command.commands) pages.push_back(page_name(sub));
  std::string text;
  for (const auto& page : pages) {
    text += fmt::format(".BR {} (1){}\n", literal(page), &page == &pages.back() ? "" : " ,");
  }
  return text.empty() ? "" : ".SH SEE ALSO\n" + text;
}

}  // namespace

std::string page_name(const CommandHelp& command) { return joined(command.path, "-"); }

std::string man_page(const CommandHelp& command, const std::string& version,
                     const std::string& date) {
  const std::string name = page_name(command);
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string page = fmt::format(".TH {} 1 {} \"fathom {}\" \"User Commands\"\n", literal(title),
                                 date, version);
  page += fmt::format(".SH NAME\n{} \\-\n{}", literal(name), prose(command.description));
  page += ".SH SYNOPSIS\n" + synopsis(command);
  page += ".SH DESCRIPTION\n" + prose(command.description +
                                      (command.description.ends_with('.') ? "" : "."));
  if (!command.commands.empty()) page += ".SH COMMANDS\n";
  for (const CommandHelp& sub : command.commands)
    page += fmt::format(".TP\n.B {}\n{}", literal(sub.path.back()), prose(sub.description + "."));
  if (!command.arguments.empty()) page += ".SH OPTIONS\n";
  for (const Argument& argument : command.arguments) page += option(argument);
  page += ".SH EXIT STATUS\n";
  page += prose("0 where all went well, 1 where a check failed, 2 for bad input. Fathom's README "
                "lists the others.");
  return page + footer(command.footer) + see_also(command);
}

}  // namespace fathom::manual
