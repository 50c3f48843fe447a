// All commands, and those that say what there is: `fathom list` the probes, `fathom doctor` the
// state of this machine.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "generated/suite_groups.h"
#include "results/document_io.h"
#include "results/flag_checks.h"
#include "tools/commands.h"
#include "tools/predict/predict.h"
#include "tools/programs.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// --- list ----------------------------------------------------------------------------------------

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

// --- doctor --------------------------------------------------------------------------------------

struct DoctorArguments {
  std::optional<int> device;  ///< CUDA ordinal; empty: every GPU
  bool json = false;
};

/// What `fathom-device` has to say of one GPU or of all (harness/doctor.h). A build without CUDA
/// has no program that asks the driver, and can say one thing.
Json query_checks(const fs::path& programs, bool measures, std::optional<int> device) {
  if (measures) {
    std::vector<std::string> arguments{"--doctor"};
    if (device) arguments.insert(arguments.end(), {"--device", std::to_string(*device)});
    Json checks;
    ask_device(programs, arguments, [&](const Json& answer) { checks = answer.at("checks"); });
    return checks;
  }
  const std::string address = nvidia_gpu_on_pci();
  const bool none = address.empty();
  return Json::array(
      {{{"id", "driver"},
        {"status", "fail"},
        {"gpu", nullptr},
        {"what", "NVIDIA driver"},
        {"detail", none ? "There is no NVIDIA GPU on this machine."
                        : fmt::format("The NVIDIA GPU at PCI address {} has no driver.", address)},
        {"what_to_do", none ? "`fathom run` replays a recording meanwhile."
                            : "Install one, or, in a container, start it with --gpus all."}}});
}

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

ExitCode doctor(const DoctorArguments& arguments) {
  const fs::path programs = program_folder();
  const bool measures = has_probes(programs);
  const Json checks = query_checks(programs, measures, arguments.device);
  if (arguments.json)
    fmt::print("{}\n", Json{{"checks", checks}}.dump(2));
  else
    print_checks(checks);
  if (!measures) return ExitCode::no_driver;

  const auto failed =
      std::ranges::find_if(checks, [](const Json& check) { return check.at("status") == "fail"; });
  const bool fine = failed == checks.end();
  if (fine && !arguments.device) return ExitCode::ok;
  try {
    query_device(programs, arguments.device.value_or(0));
  } catch (const Error& error) {
    // The checks of a GPU that does not exist are no checks at all.
    if (fine) throw;
    return error.code();  // that `fathom run` would meet
  }
  if (fine) return ExitCode::ok;
  return failed->at("id") == "gpu" ? ExitCode::setup_incomplete : ExitCode::check_failed;
}

void add_doctor(CLI::App& app, DoctorArguments& options) {
  checked_flag(app, "--device", options.device,
               "Only this GPU, by CUDA device ordinal (default: all)", ordinal(), "N");
  app.add_flag("--json", options.json, "Print the checks as JSON");
  app.footer(
      "Examples:\n"
      "  fathom doctor\n"
      "  fathom doctor --device 1 --json\n");
}

}  // namespace

std::vector<Command> tool_commands() {
  const Command list_command{.name = "list",
                             .summary = "Show the probes, their questions and claims",
                             .add = [](CLI::App&) { return list; },
                             .footer = "Example:\n  fathom list\n"};
  const Command doctor_command{.name = "doctor",
                               .summary = "Check driver, permissions and tools",
                               .add = with_arguments(add_doctor, doctor)};
  std::vector<Command> commands{run_command(),       list_command,      doctor_command,
                                report_command(),    compare_command(), export_command(),
                                recording_command(), predict_command()};
  commands.insert(commands.end(), std::begin(program_commands), std::end(program_commands));
  return commands;
}

}  // namespace fathom
