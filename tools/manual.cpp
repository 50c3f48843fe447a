// fathom_manual FOLDER DATE: writes fathom's man pages below FOLDER, as they lie in
// <prefix>/share. Part of the build; what it writes is what the commands' own help says.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "explain/command.h"
#include "fleet/commands/fleet_commands.h"
#include "gate/commands/gate_commands.h"
#include "results/version.h"
#include "tools/command_help.h"
#include "tools/command_line.h"
#include "tools/commands.h"

namespace {

using fathom::Argument;
using fathom::CommandHelp;

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
  std::string text =
      fmt::format(".B {}\n", literal(fmt::format("{}", fmt::join(command.path, " "))));
  if (!command.arguments.empty()) text += "[\\fIOPTION\\fR...]\n";
  for (const Argument& argument : command.arguments) {
    if (!argument.positional) continue;
    const std::string name =
        fmt::format("\\fI{}\\fR{}", argument.names.front(), argument.several ? "..." : "");
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
  text += fmt::format("{}", fmt::join(names, ", "));
  if (!argument.positional && !argument.value.empty())
    text += fmt::format(" \\fI{}\\fR", literal(argument.value));
  text += "\n" + prose(argument.description + ".");
  if (!argument.choices.empty())
    text += prose(fmt::format("One of {}.", fmt::join(argument.choices, ", ")));
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

/// "fathom-predict-shared", of the page in section 1.
std::string page_name(const std::vector<std::string>& path) {
  return fmt::format("{}", fmt::join(path, "-"));
}

std::string see_also(const CommandHelp& command) {
  std::vector<std::string> pages;
  if (command.path.size() > 1) {
    pages.push_back(page_name({command.path.begin(), command.path.end() - 1}));
  }
  for (const CommandHelp& sub : command.commands) pages.push_back(page_name(sub.path));
  std::string text;
  for (const auto& page : pages) {
    text += fmt::format(".BR {} (1){}\n", literal(page), &page == &pages.back() ? "" : " ,");
  }
  return text.empty() ? "" : ".SH SEE ALSO\n" + text;
}

/// The page of a command in roff. `date` is ISO 8601's.
std::string man_page(const CommandHelp& command, const std::string& version,
                     const std::string& date) {
  const std::string name = page_name(command.path);
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string page =
      fmt::format(".TH {} 1 {} \"fathom {}\" \"User Commands\"\n", literal(title), date, version);
  page += fmt::format(".SH NAME\n{} \\-\n{}", literal(name), prose(command.description));
  page += ".SH SYNOPSIS\n" + synopsis(command);
  page += ".SH DESCRIPTION\n" +
          prose(command.description + (command.description.ends_with('.') ? "" : "."));
  if (!command.commands.empty()) page += ".SH COMMANDS\n";
  for (const CommandHelp& sub : command.commands)
    page += fmt::format(".TP\n.B {}\n{}", literal(sub.path.back()), prose(sub.description + "."));
  if (!command.arguments.empty()) page += ".SH OPTIONS\n";
  for (const Argument& argument : command.arguments) page += option(argument);
  page += ".SH EXIT STATUS\n";
  page += prose(
      "0 where all went well, 1 where a check failed, 2 for bad input. Fathom's README lists the "
      "others.");
  return page + footer(command.footer) + see_also(command);
}

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream stream(file);
  stream << text << std::flush;
  if (!stream) throw std::runtime_error(fmt::format("{} could not be written", file.string()));
}

/// Writes the pages of the command and of all below it.
void write_pages(const CommandHelp& command, const fs::path& folder, const std::string& date) {
  write(folder / (page_name(command.path) + ".1"), man_page(command, fathom::version(), date));
  for (const CommandHelp& below : command.commands) write_pages(below, folder, date);
}

/// Those of the other programs in place of their names.
std::vector<fathom::TopCommand> all_commands() {
  auto commands = fathom::tool_commands();
  for (const auto& others :
       {fathom::gate_commands(), fathom::fleet_commands(), fathom::explain::explain_commands()})
    for (const fathom::TopCommand& other : others)
      *std::ranges::find(commands, other.name, &fathom::TopCommand::name) = other;
  return commands;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: fathom_manual FOLDER DATE");
  const fs::path folder = fs::path(argv[1]) / "man/man1";
  fathom::run_command_line(0, nullptr, all_commands(), [&](CLI::App& app) {
    write_pages(fathom::help_of(app), folder, argv[2]);
  });
} catch (const std::exception& error) {
  std::fprintf(stderr, "fathom_manual: %s.\n", error.what());
  return 1;
}
