#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/commands.h"
#include "tools/probe_binaries.h"
#include "tools/suites.h"

namespace fathom {

ExitCode list_command() {
  const auto folder = program_folder();
  const auto probes = find_probes(folder);
  fmt::print("{} probes, each a program of its own in {} (probe_NAME --help):\n\n", probes.size(),
             folder.string());
  for (const auto& probe : probes) {
    fmt::print("{} (group {})\n  {}\n", probe.name, probe.group, probe.question);
    if (!probe.claims.empty()) fmt::print("  claims: {}\n", fmt::join(probe.claims, ", "));
    fmt::print("\n");
  }
  fmt::print(
      "Suites (fathom run --suite NAME):\n");
  for (const RunSuite& suite : run_suites())
    fmt::print("  {:<12} {} (group {})\n", suite.name, suite.description, suite.group_names());
  return ExitCode::ok;
}

}  // namespace fathom
