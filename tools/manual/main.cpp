// fathom_manual FOLDER DATE: writes fathom's man pages and completions below FOLDER, as they lie in
// <prefix>/share. Part of the build; what it writes is what the commands' own help says.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "explain/command.h"
#include "fleet/commands/fleet_commands.h"
#include "gate/commands/gate_commands.h"
#include "results/version.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/manual/command_tree.h"

namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream stream(file);
  stream << text << std::flush;
  if (!stream) throw std::runtime_error(fmt::format("{} could not be written", file.string()));
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
  using namespace fathom::manual;
  if (argc != 3) throw std::runtime_error("usage: fathom_manual FOLDER DATE");
  const fs::path folder = argv[1];
  fathom::run_command_line(0, nullptr, all_commands(), [&](CLI::App& app) {
    const CommandHelp root = help_of(app);
    for (const CommandHelp* command : all_of(root))
      write(folder / "man/man1" / (page_name(*command) + ".1"),
            man_page(*command, fathom::version(), argv[2]));
    write(folder / "bash-completion/completions/fathom", bash_completion(root));
    write(folder / "zsh/site-functions/_fathom", zsh_completion(root));
    write(folder / "fish/vendor_completions.d/fathom.fish", fish_completion(root));
  });
} catch (const std::exception& error) {
  std::fprintf(stderr, "fathom_manual: %s.\n", error.what());
  return 1;
}
