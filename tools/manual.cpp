// fathom_manual FOLDER DATE: writes fathom's man pages below FOLDER, as they lie in
// <prefix>/share. Part of the build; what it writes is what the commands' own help says.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "explain/explain.h"
#include "fleet/run/run.h"
#include "gate/commands/gate_commands.h"
#include "results/files.h"
#include "results/program.h"
#include "tools/command_line.h"
#include "tools/commands.h"

namespace {

/// Text that roff takes as it is.
std::string escaped(const std::string& text) {
  std::string roff = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) roff += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return roff;
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
  return line.empty() ? lines : lines + line + "\n";
}

/// "fathom-predict-shared", of the page in section 1; with a space the command itself.
std::string name_of(const CLI::App& command, const char* between = "-") {
  const CLI::App* above = command.get_parent();
  return (above ? name_of(*above, between) + between : "") + command.get_name();
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), ::toupper);
  return text;
}

/// A help from its usage on: headings, what they list, examples as they are, and prose.
std::string roff_of(const std::string& help) {
  std::string roff;
  bool example = false, paragraph = false;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line); paragraph = line.empty()) {
    const std::size_t first = line.find_first_not_of(' ');
    if (line.empty()) continue;
    if (example && first == 0) {
      roff += ".EE\n";
      example = false, paragraph = true;
    }
    if (line.starts_with("Usage: ")) {
      roff += ".SH SYNOPSIS\n.B " + escaped(line.substr(7)) + "\n";
    } else if (first == 0 && line.ends_with(':')) {
      example = line.starts_with("Example");
      line.pop_back();
      roff += ".SH " + in_capitals(line) + "\n" + (example ? ".EX\n" : "");
    } else if (example) {
      roff += escaped(line.substr(2)) + "\n";
    } else if (first == 2) {
      const std::size_t end = std::min(line.find("  ", first), line.size());
      roff +=
          ".TP\n.B " + escaped(line.substr(first, end - first)) + "\n" + prose(line.substr(end));
    } else {
      roff += (paragraph ? ".PP\n" : "") + prose(line);
    }
  }
  return roff + (example ? ".EE\n" : "");
}

/// The page of a command in roff. `date` is ISO 8601's.
std::string man_page(const CLI::App& command, const std::string& date) {
  const std::string name = escaped(name_of(command));
  const CLI::App* above = command.get_parent();
  const std::string help = command.help(above ? name_of(*above, " ") : "");
  return fmt::format(".TH {} 1 {} \"fathom {}\" \"User Commands\"\n.SH NAME\n{} \\-\n{}{}",
                     in_capitals(name), date, fathom::version(), name,
                     prose(command.get_description()), roff_of(help.substr(help.find("Usage: "))));
}

/// Writes the pages of the command and of all below it.
void write_pages(CLI::App& command, const std::filesystem::path& folder, const std::string& date) {
  fathom::write_file_atomically(folder / (name_of(command) + ".1"), man_page(command, date));
  for (CLI::App* sub : command.get_subcommands([](CLI::App*) { return true; }))
    write_pages(*sub, folder, date);
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
  fathom::ExitCode code{};
  write_pages(*fathom::command_line(fathom::root_command(all_commands()), code), folder, argv[2]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "fathom_manual: %s.\n", error.what());
  return 1;
}
