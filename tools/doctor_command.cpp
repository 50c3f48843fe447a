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
using OrderedJson = nlohmann::ordered_json;

constexpr std::uintmax_t comfortable_bytes = std::uintmax_t{1} << 30;

DoctorCheck check_disk() {
  DoctorCheck check{"disk", "ok", {}, "Disk space", "", ""};
  std::error_code error;
  const auto space = fs::space(".", error);
  if (error) {
    check.status = "skip";
    check.detail = "unknown: " + error.message();
    return check;
  }
  check.detail =
      fmt::format("{:.1f} GB free in this folder", static_cast<double>(space.available) / 1e9);
  if (space.available < comfortable_bytes) {
    check.status = "warn";
    check.what_to_do = "Free some space, or give a folder on another disk with --out.";
  }
  return check;
}

DoctorCheck check_folder() {
  DoctorCheck check{"folder", "ok", {}, "This folder", "can be written", ""};
  if (access(".", W_OK) == 0) return check;
  check.status = "warn";
  check.detail = "cannot be written";
  check.what_to_do = "Start Fathom in another folder, or give one with --out.";
  return check;
}

/// What a build without CUDA can say of the GPU: it has no program that asks the driver.
DoctorCheck check_gpu_without_probes() {
  DoctorCheck check{"driver",
                    "fail",
                    {},
                    "NVIDIA driver",
                    "There is no NVIDIA GPU on this machine.",
                    "`fathom run` replays a recording meanwhile."};
  if (const std::string address = nvidia_gpu_on_pci(); !address.empty()) {
    check.detail = fmt::format("The NVIDIA GPU at PCI address {} has no driver.", address);
    check.what_to_do = "Install one, or, in a container, start it with --gpus all.";
  }
  return check;
}

/// The code that `fathom run` would meet, or what the failing check itself amounts to.
ExitCode code_of(const DoctorCheck& failed, const fs::path& programs, int device) {
  try {
    query_device(programs, device);
  } catch (const Error& error) {
    return error.code();
  }
  return failed.id == "gpu" ? ExitCode::setup_incomplete : ExitCode::check_failed;
}

void print_checks(const std::vector<DoctorCheck>& checks) {
  const bool colour = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  std::size_t width = 0;
  const auto title = [](const DoctorCheck& check) {
    return check.gpu ? fmt::format("GPU {}: {}", *check.gpu, check.what) : check.what;
  };
  for (const auto& check : checks) width = std::max(width, title(check).size());
  for (const auto& check : checks) {
    std::string status = check.status;
    std::ranges::transform(status, status.begin(), ::toupper);
    const int code = status == "OK" ? 32 : status == "WARN" ? 33 : status == "FAIL" ? 31 : 90;
    const std::string padded = fmt::format("{:<4}", status);
    fmt::print("{}  {:<{}}  {}\n", colour ? fmt::format("\033[{}m{}\033[0m", code, padded) : padded,
               title(check), width, check.detail);
    if (!check.what_to_do.empty()) fmt::print("      {:<{}}  -> {}\n", "", width, check.what_to_do);
  }
}

OrderedJson to_json(const std::vector<DoctorCheck>& checks) {
  OrderedJson list = OrderedJson::array();
  for (const auto& check : checks)
    list.push_back({{"id", check.id},
                    {"status", check.status},
                    {"gpu", check.gpu ? OrderedJson(*check.gpu) : OrderedJson(nullptr)},
                    {"what", check.what},
                    {"detail", check.detail},
                    {"what_to_do", check.what_to_do}});
  return {{"checks", std::move(list)}};
}

}  // namespace

ExitCode doctor_command(const DoctorArguments& arguments) {
  const fs::path programs = program_folder();
  const bool measures = has_probes(programs);
  auto checks = measures ? query_checks(programs, arguments.device)
                         : std::vector<DoctorCheck>{check_gpu_without_probes()};
  for (const auto& check : {check_folder(), check_disk()}) checks.push_back(check);
  if (arguments.json)
    fmt::print("{}\n", to_json(checks).dump(2));
  else
    print_checks(checks);
  if (!measures) return ExitCode::no_driver;

  const auto failed =
      std::ranges::find_if(checks, [](const auto& check) { return check.status == "fail"; });
  if (failed == checks.end()) {
    // The checks of a GPU that does not exist are no checks at all; this throws for it.
    if (arguments.device) query_device(programs, *arguments.device);
    return ExitCode::ok;
  }
  return code_of(*failed, programs, arguments.device.value_or(0));
}

}  // namespace fathom
