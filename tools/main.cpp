// The program `fathom`: its commands, those of program_commands only by name, and what `fathom
// list` (the probes) and `fathom doctor` (the state of this machine) do.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "generated/suite_groups.h"
#include "probes/claims.h"
#include "results/document_io.h"
#include "tools/commands.h"
#include "tools/predict/predict.h"
#include "tools/programs.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;

// --- list ----------------------------------------------------------------------------------------

ExitCode list() {
  const auto folder = program_folder();
  fmt::print("{} probes, {} of them built in {} (probe_NAME --help):\n\n", group_of_probe.size(),
             find_probes(folder).size(), folder.string());
  std::map<std::string, std::string> questions;  // as the recordings have them
  for (const char* suite : {"default", "atlas", "gemm"})
    for (const ProbeSummary& probe : read_document(replayed_recording(suite)).probes)
      questions[probe.name] = probe.question;
  for (const auto& [name, group] : group_of_probe) {
    fmt::print("{} (group {})\n  {}\n", name, group, questions[name]);
    std::vector<std::string> claims;  // of "S2" and "S2 (stores)" the first
    for (const Claim& claim : conclusion_of(name)({}).claims)
      if (claim.id.find(' ') == std::string::npos) claims.push_back(claim.id);
    if (!claims.empty()) fmt::print("  claims: {}\n", fmt::join(claims, ", "));
    fmt::print("\n");
  }
  fmt::print("Suites (fathom run --suite NAME):\n");
  for (const RunSuite& suite : run_suites)
    fmt::print("  {:<12} {} (group {})\n", suite.name, suite.description, suite.group_names());
  return ExitCode::ok;
}

// --- doctor --------------------------------------------------------------------------------------

/// Prints the checks of `fathom-device` (harness/doctor.h).
void print_checks(const Json& checks) {
  const bool colour = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  std::size_t width = 0;
  const auto text = [](const Json& check, const char* key) {
    return check.at(key).get<std::string>();
  };
  const auto title = [&](const Json& check) {
    const Json& gpu = check.at("gpu");
    return (gpu.is_null() ? "" : fmt::format("GPU {}: ", gpu.get<int>())) + text(check, "what");
  };
  for (const Json& check : checks) width = std::max(width, title(check).size());
  for (const Json& check : checks) {
    std::string status = text(check, "status");
    std::ranges::transform(status, status.begin(), ::toupper);
    const int code = status == "OK" ? 32 : status == "WARN" ? 33 : status == "FAIL" ? 31 : 90;
    const std::string padded = fmt::format("{:<4}", status), to_do = text(check, "what_to_do");
    fmt::print("{}  {:<{}}  {}\n", colour ? fmt::format("\033[{}m{}\033[0m", code, padded) : padded,
               title(check), width, text(check, "detail"));
    if (!to_do.empty()) fmt::print("      {:<{}}  -> {}\n", "", width, to_do);
  }
}

ExitCode doctor() {
  const auto programs = program_folder();
  if (find_probes(programs).empty()) {  // a build without CUDA has no program that asks the driver
    const std::string address = nvidia_gpu_on_pci();
    const bool none = address.empty();
    print_checks(Json::array(
        {{{"status", "fail"},
          {"gpu", nullptr},
          {"what", "NVIDIA driver"},
          {"detail", none
                         ? "There is no NVIDIA GPU on this machine."
                         : fmt::format("The NVIDIA GPU at PCI address {} has no driver.", address)},
          {"what_to_do", none ? "`fathom run` replays a recording meanwhile."
                              : "Install one, or, in a container, start it with --gpus all."}}}));
    return ExitCode::no_driver;
  }
  Json checks;
  ask_device(programs, {"--doctor"}, [&](const Json& answer) { checks = answer.at("checks"); });
  print_checks(checks);
  const auto failed =
      std::ranges::find_if(checks, [](const Json& check) { return check.at("status") == "fail"; });
  if (failed == checks.end()) return ExitCode::ok;
  try {
    query_device(programs, 0);
  } catch (const Error& error) {
    return error.code();  // that `fathom run` would meet
  }
  return failed->at("id") == "gpu" ? ExitCode::setup_incomplete : ExitCode::check_failed;
}

std::vector<Command> tool_commands() {
  std::vector<Command> commands{run_command(),
                                {.name = "list",
                                 .summary = "Show the probes, their questions and claims",
                                 .add = [](CLI::App&) { return list; },
                                 .footer = "Example:\n  fathom list\n"},
                                {.name = "doctor",
                                 .summary = "Check driver, permissions and tools",
                                 .add = [](CLI::App&) { return doctor; },
                                 .footer = "Example:\n  fathom doctor\n"},
                                report_command(),
                                compare_command(),
                                export_command(),
                                recording_command(),
                                predict_command()};
  commands.insert(commands.end(), std::begin(program_commands), std::end(program_commands));
  return commands;
}

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) { return fathom::run_program(argc, argv, fathom::tool_commands()); }
