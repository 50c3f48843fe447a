#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/commands.h"
#include "tools/probe_binaries.h"

namespace fathom {

ExitCode list_command() {
  const auto folder = program_folder();
  const auto probes = find_probes(folder);
  fmt::print("{} probes, each a program of its own in {} (probe_NAME --help):\n\n", probes.size(),
             folder.string());
  for (const auto& probe : probes) {
    fmt::print("{}\n  {}\n", probe.name, probe.question);
    if (!probe.claims.empty()) fmt::print("  claims: {}\n", fmt::join(probe.claims, ", "));
    fmt::print("\n");
  }
  fmt::print(
      "Suites (fathom run --suite NAME):\n"
      "  quick    the cases that decide most, under a minute\n"
      "  default  all cases, under three minutes\n");
  return ExitCode::ok;
}

}  // namespace fathom
