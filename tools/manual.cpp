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

/// "fathom", "predict", "shared".
std::vector<std::string> path_of(const CLI::App& command) {
  std::vector<std::string> path;
  if (command.get_parent()) path = path_of(*command.get_parent());
  path.push_back(command.get_name());
  return path;
}

std::vector<CLI::App*> below(CLI::App& command) {
  return command.get_subcommands([](CLI::App*) { return true; });
}

std::string synopsis(CLI::App& command) {
  std::string text =
      fmt::format(".B {}\n", literal(fmt::format("{}", fmt::join(path_of(command), " "))));
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
  std::vector<std::string> names;
  for (const auto& name : fathom::names_of(option))
    names.push_back(fmt::format("\\f{}{}\\fR", positional ? 'I' : 'B', literal(name)));
  std::string text = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!positional && !value.empty()) text += fmt::format(" \\fI{}\\fR", literal(value));
  text += "\n" + prose(option.get_description() + ".");
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
      roff += literal(line.substr(line.find_first_not_of(' '))) + "\n";
    else if (line.starts_with("Example"))
      roff += ".SH EXAMPLES\n";
    else
      roff += prose(line);
  }
  return roff + (example ? ".EE\n" : "");
}

/// "fathom-predict-shared", of the page in section 1.
std::string page_name(const CLI::App& command) {
  return fmt::format("{}", fmt::join(path_of(command), "-"));
}

std::string see_also(CLI::App& command) {
  std::vector<std::string> pages;
  if (command.get_parent()) pages.push_back(literal(page_name(*command.get_parent())));
  for (const CLI::App* sub : below(command)) pages.push_back(literal(page_name(*sub)));
  return pages.empty()
             ? ""
             : fmt::format(".SH SEE ALSO\n.BR {} (1)\n", fmt::join(pages, " (1) ,\n.BR "));
}

/// The page of a command in roff. `date` is ISO 8601's.
std::string man_page(CLI::App& command, const std::string& date) {
  const std::string name = page_name(command), description = command.get_description();
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string page = fmt::format(".TH {} 1 {} \"fathom {}\" \"User Commands\"\n", literal(title),
                                 date, fathom::version());
  page += fmt::format(".SH NAME\n{} \\-\n{}", literal(name), prose(description));
  page += ".SH SYNOPSIS\n" + synopsis(command);
  page += ".SH DESCRIPTION\n" + prose(description + (description.ends_with('.') ? "" : "."));
  if (!below(command).empty()) page += ".SH COMMANDS\n";
  for (const CLI::App* sub : below(command))
    page += fmt::format(".TP\n.B {}\n{}", literal(sub->get_name()),
                        prose(sub->get_description() + "."));
  if (!command.get_options().empty()) page += ".SH OPTIONS\n";
  for (CLI::Option* option : command.get_options()) page += described(*option);
  page += ".SH EXIT STATUS\n";
  page += prose(
      "0 where all went well, 1 where a check failed, 2 for bad input. Fathom's README lists the "
      "others.");
  return page + footer(command.get_footer()) + see_also(command);
}

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream stream(file);
  stream << text << std::flush;
  if (!stream) throw std::runtime_error(fmt::format("{} could not be written", file.string()));
}

/// Writes the pages of the command and of all below it.
void write_pages(CLI::App& command, const fs::path& folder, const std::string& date) {
  write(folder / (page_name(command) + ".1"), man_page(command, date));
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
  const fs::path folder = fs::path(argv[1]) / "man/man1";
  fathom::run_command_line(0, nullptr, all_commands(),
                           [&](CLI::App& app) { write_pages(app, folder, argv[2]); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "fathom_manual: %s.\n", error.what());
  return 1;
}
