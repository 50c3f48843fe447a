#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "results/error.h"
#include "tools/commands.h"
#include "tools/device_query.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uintmax_t comfortable_bytes = std::uintmax_t{1} << 30;

/// A check of the whole machine, as `fathom-device` has those of GPUs.
Json check_of(const char* id, const char* what, const char* status, const std::string& detail,
              const char* what_to_do = "") {
  return {{"id", id},     {"status", status}, {"gpu", nullptr},
          {"what", what}, {"detail", detail}, {"what_to_do", what_to_do}};
}

Json check_disk() {
  std::error_code error;
  const auto space = fs::space(".", error);
  if (error) return check_of("disk", "Disk space", "skip", "unknown: " + error.message());
  const bool enough = space.available >= comfortable_bytes;
  return check_of(
      "disk", "Disk space", enough ? "ok" : "warn",
      fmt::format("{:.1f} GB free in this folder", static_cast<double>(space.available) / 1e9),
      enough ? "" : "Free some space, or give a folder on another disk with --out.");
}

Json check_folder() {
  if (access(".", W_OK) == 0) return check_of("folder", "This folder", "ok", "can be written");
  return check_of("folder", "This folder", "warn", "cannot be written",
                  "Start Fathom in another folder, or give one with --out.");
}

/// What a build without CUDA can say of the GPU: it has no program that asks the driver.
Json check_gpu_without_probes() {
  const std::string address = nvidia_gpu_on_pci();
  if (address.empty())
    return check_of("driver", "NVIDIA driver", "fail", "There is no NVIDIA GPU on this machine.",
                    "`fathom run` replays a recording meanwhile.");
  return check_of("driver", "NVIDIA driver", "fail",
                  fmt::format("The NVIDIA GPU at PCI address {} has no driver.", address),
                  "Install one, or, in a container, start it with --gpus all.");
}

/// The code that `fathom run` would meet, or what the failing check itself amounts to.
ExitCode code_of(const Json& failed, const fs::path& programs, int device) {
  try {
    query_device(programs, device);
  } catch (const Error& error) {
    return error.code();
  }
  return failed.at("id") == "gpu" ? ExitCode::setup_incomplete : ExitCode::check_failed;
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

}  // namespace

ExitCode doctor_command(const DoctorArguments& arguments) {
  const fs::path programs = program_folder();
  const bool measures = has_probes(programs);
  Json checks = measures ? query_checks(programs, arguments.device)
                         : Json::array({check_gpu_without_probes()});
  for (const Json& check : {check_folder(), check_disk()}) checks.push_back(check);
  if (arguments.json)
    fmt::print("{}\n", Json{{"checks", checks}}.dump(2));
  else
    print_checks(checks);
  if (!measures) return ExitCode::no_driver;

  const auto failed =
      std::ranges::find_if(checks, [](const Json& check) { return check.at("status") == "fail"; });
  if (failed == checks.end()) {
    // The checks of a GPU that does not exist are no checks at all; this throws for it.
    if (arguments.device) query_device(programs, *arguments.device);
    return ExitCode::ok;
  }
  return code_of(*failed, programs, arguments.device.value_or(0));
}

}  // namespace fathom
