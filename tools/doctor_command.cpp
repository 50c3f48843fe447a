#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "results/error.h"
#include "results/flag_checks.h"
#include "tools/commands.h"
#include "tools/programs.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct DoctorArguments {
  std::optional<int> device;  ///< CUDA ordinal; empty: every GPU
  bool json = false;
};

/// What `fathom-device` has to say of one GPU or of all, a line each: "id" ("driver", "gpu", ...),
/// "status" ("ok", "warn", "fail" or "skip"), "gpu" (CUDA's number; null for a check of the whole
/// machine), "what", "detail" and "what_to_do" (empty: nothing).
Json query_checks(const fs::path& programs, std::optional<int> device) {
  std::vector<std::string> arguments{"--doctor"};
  if (device) arguments.insert(arguments.end(), {"--device", std::to_string(*device)});
  Json checks;
  ask_device(programs, arguments, [&](const Json& answer) { checks = answer.at("checks"); });
  return checks;
}

/// What a build without CUDA can say of the GPU: it has no program that asks the driver.
Json check_gpu_without_probes() {
  const std::string address = nvidia_gpu_on_pci();
  const bool none = address.empty();
  return {
      {"id", "driver"},
      {"status", "fail"},
      {"gpu", nullptr},
      {"what", "NVIDIA driver"},
      {"detail", none ? "There is no NVIDIA GPU on this machine."
                      : fmt::format("The NVIDIA GPU at PCI address {} has no driver.", address)},
      {"what_to_do", none ? "`fathom run` replays a recording meanwhile."
                          : "Install one, or, in a container, start it with --gpus all."}};
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
  const Json checks = measures ? query_checks(programs, arguments.device)
                               : Json::array({check_gpu_without_probes()});
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
  app.add_option("--device", options.device, "Only this GPU, by CUDA device ordinal (default: all)")
      ->check(ordinal())
      ->type_name("N");
  app.add_flag("--json", options.json, "Print the checks as JSON");
  app.footer(
      "Examples:\n"
      "  fathom doctor\n"
      "  fathom doctor --device 1 --json\n");
}

}  // namespace

Command doctor_command() {
  return {.name = "doctor",
          .summary = "Check driver, permissions and tools",
          .add = with_arguments(add_doctor, doctor)};
}

}  // namespace fathom
