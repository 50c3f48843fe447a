#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "generated/suite_groups.h"
#include "results/document_io.h"
#include "tools/commands.h"
#include "tools/programs.h"

namespace fathom {
namespace {

/// In a build without CUDA no program says what it asks; the recordings say it.
std::vector<ProbeBinary> recorded_probes() {
  std::vector<ProbeBinary> probes;
  for (const char* suite : {"default", "atlas", "gemm"}) {
    const Document document = read_document(replayed_recording(suite));
    for (const ProbeSummary& summary : document.probes) {
      const auto known = std::ranges::find(probe_groups, summary.name, &ProbeGroup::probe);
      if (known == std::end(probe_groups) || !find_run_suite(suite)->has(known->group)) continue;
      ProbeBinary probe{{}, summary.name, std::string(known->group), summary.question, {}, {}};
      for (const Claim& claim : document.claims) {
        const std::string id = claim.id.substr(0, claim.id.find(' '));  // "S2 (stores)" is of S2
        if (claim.probe == probe.name && std::ranges::count(probe.claims, id) == 0)
          probe.claims.push_back(id);
      }
      probes.push_back(std::move(probe));
    }
  }
  std::ranges::sort(probes, {}, &ProbeBinary::name);
  return probes;
}

ExitCode list() {
  const auto folder = program_folder();
  const bool built = has_probes(folder);
  const auto probes = built ? find_probes(folder) : recorded_probes();
  if (built)
    fmt::print("{} probes, each a program of its own in {} (probe_NAME --help):\n\n", probes.size(),
               folder.string());
  else
    fmt::print("{} probes; none is built here, where Fathom replays and does not measure:\n\n",
               probes.size());
  for (const auto& probe : probes) {
    fmt::print("{} (group {})\n  {}\n", probe.name, probe.group, probe.question);
    if (!probe.claims.empty()) fmt::print("  claims: {}\n", fmt::join(probe.claims, ", "));
    fmt::print("\n");
  }
  fmt::print("Suites (fathom run --suite NAME):\n");
  for (const RunSuite& suite : run_suites)
    fmt::print("  {:<12} {} (group {})\n", suite.name, suite.description, suite.group_names());
  return ExitCode::ok;
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .summary = "Show the probes, their questions and claims",
          .add = [](CLI::App& app) {
            app.footer("Example:\n  fathom list\n");
            return list;
          }};
}

}  // namespace fathom
