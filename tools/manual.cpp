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

/// Text that roff takes as it is.
std::string escaped(const std::string& text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\')
      roff += "\\e";
    else if (c == '-')
      roff += "\\-";
    else
      roff += c;
  }
  return roff.starts_with('.') || roff.starts_with('\'') ? "\\&" + roff : roff;
}

/// Prose in lines of roff: a new sentence begins a new line, and no line is long.
std::string prose(const std::string& text) {
  constexpr std::size_t longest = 78;
  std::string lines, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    word = escaped(word);
    const bool sentence = line.ends_with('.') && !line.ends_with("..");
    if (!line.empty() && (sentence || line.size() + 1 + word.size() > longest)) {
      lines += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + line + "\n";
}

/// "fathom-predict-shared", of the page in section 1; with a space the command itself.
std::string name_of(const CLI::App& command, const char* between = "-") {
  const CLI::App* above = command.get_parent();
  return (above ? name_of(*above, between) + between : "") + command.get_name();
}

std::vector<CLI::App*> below(CLI::App& command) {
  return command.get_subcommands([](CLI::App*) { return true; });
}

std::string synopsis(CLI::App& command) {
  std::string text = fmt::format(".B {}\n", escaped(name_of(command, " ")));
  if (!command.get_options().empty()) text += "[\\fIOPTION\\fR...]\n";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = fmt::format("\\fI{}\\fR{}", option->get_name(true),
                                         option->get_expected_max() > 1 ? "..." : "");
    text += option->get_required() ? name + "\n" : fmt::format("[{}]\n", name);
  }
  if (!below(command).empty()) text += "\\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n";
  return text;
}

std::string described(CLI::Option& option) {
  const bool positional = option.get_positional();
  const std::string value = fathom::value_of(option);
  std::string text =
      fmt::format(".TP\n\\f{}{}\\fR", positional ? 'I' : 'B',
                  escaped(fmt::format("{}", fmt::join(fathom::names_of(option), ", "))));
  text += positional || value.empty() ? "\n" : fmt::format(" \\fI{}\\fR\n", escaped(value));
  text += prose(option.get_description() + ".");
  if (const auto choices = fathom::choices_of(option); !choices.empty())
    text += prose(fmt::format("One of {}.", fmt::join(choices, ", ")));
  if (const std::string standard = option.get_default_str(); !value.empty() && !standard.empty())
    text += prose(fmt::format("Default: {}.", standard));
  if (option.get_required()) text += "Required.\n";
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
      roff += escaped(line.substr(line.find_first_not_of(' '))) + "\n";
    else if (line.starts_with("Example"))
      roff += ".SH EXAMPLES\n";
    else
      roff += prose(line);
  }
  return roff + (example ? ".EE\n" : "");
}

/// The page of a command in roff. `date` is ISO 8601's.
std::string man_page(CLI::App& command, const std::string& date) {
  const std::string name = escaped(name_of(command)), description = command.get_description();
  std::string title = name;
  std::ranges::transform(title, title.begin(), ::toupper);
  std::string page = fmt::format(
      ".TH {} 1 {} \"fathom {}\" \"User Commands\"\n.SH NAME\n{} \\-\n{}.SH SYNOPSIS\n{}", title,
      date, fathom::version(), name, prose(description), synopsis(command));
  if (!below(command).empty()) page += ".SH COMMANDS\nEach has a page of its own.\n";
  for (const CLI::App* sub : below(command))
    page += fmt::format(".TP\n.B {}\n{}", escaped(sub->get_name()),
                        prose(sub->get_description() + "."));
  if (!command.get_options().empty()) page += ".SH OPTIONS\n";
  for (CLI::Option* option : command.get_options()) page += described(*option);
  return page + footer(command.get_footer());
}

/// Writes the pages of the command and of all below it.
void write_pages(CLI::App& command, const std::filesystem::path& folder, const std::string& date) {
  const auto file = folder / (name_of(command) + ".1");
  std::ofstream stream(file);
  stream << man_page(command, date) << std::flush;
  if (!stream) throw std::runtime_error(fmt::format("{} could not be written", file.string()));
  for (CLI::App* sub : below(command)) write_pages(*sub, folder, date);
}

/// Those of the other programs in place of their names.
std::vector<fathom::Command> all_commands() {
  auto commands = fathom::tool_commands();
  for (const auto& others :
       {fathom::gate_commands(), fathom::fleet_commands(), fathom::explain::explain_commands()})
    for (const fathom::Command& other : others)
      *std::ranges::find(commands, other.name, &fathom::Command::name) = other;
  return commands;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: fathom_manual FOLDER DATE");
  const std::filesystem::path folder = std::filesystem::path(argv[1]) / "man/man1";
  std::filesystem::create_directories(folder);
  fathom::run_command_line(0, nullptr, all_commands(),
                           [&](CLI::App& app) { write_pages(app, folder, argv[2]); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "fathom_manual: %s.\n", error.what());
  return 1;
}
