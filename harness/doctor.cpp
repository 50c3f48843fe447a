#include "harness/doctor.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "harness/counters/range_profiler.h"

namespace fathom {
namespace {

/// "the driver is absent" -> "The driver is absent."
std::string sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  if (text.back() != '.') text += '.';
  return text;
}

/// The value of a line "key: value" or "key:\tvalue"; empty if there is none.
std::optional<std::string> file_entry(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + ":")) continue;
    const std::size_t value = line.find_first_not_of(" \t", key.size() + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return std::nullopt;
}

/// Whether this process may do what the driver reserves for administrators: CAP_SYS_ADMIN, or
/// CAP_PERFMON, which drivers since 2023 take as well. Root inside a container often has neither.
bool has_admin_capability(const std::string& status_path) {
  const auto text = file_entry(status_path, "CapEff");
  if (!text) return false;
  std::uint64_t bits = 0;
  std::istringstream(*text) >> std::hex >> bits;
  constexpr std::uint64_t sys_admin = std::uint64_t{1} << 21, perfmon = std::uint64_t{1} << 38;
  return (bits & (sys_admin | perfmon)) != 0;
}

constexpr const char* grant_counters =
    "Run as root (in a container: --cap-add=SYS_ADMIN), or let every user read counters: write "
    "\"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" to "
    "/etc/modprobe.d/nvidia-counters.conf and restart the machine.";

Check check_counters(int ordinal) {
  const std::string problem = CounterSession::problem_on(ordinal);
  if (problem.empty())
    return {"counters", CheckStatus::ok, ordinal, "Hardware counters", "can be read", ""};
  return {"counters", CheckStatus::warn,
          ordinal,    "Hardware counters",
          problem,    "Results come without counters until this is mended."};
}

void append(std::vector<Check>& checks, std::vector<Check> more) {
  checks.insert(checks.end(), more.begin(), more.end());
}

}  // namespace

std::vector<Check> check_software(const CudaDeviceCount& devices, const Surroundings& around,
                                  const NvmlLibrary& nvml) {
  std::vector<Check> checks;
  const auto add = [&](const char* id, const char* what, CheckStatus status, std::string detail,
                       std::string what_to_do = {}) {
    checks.push_back({id, status, {}, what, std::move(detail), std::move(what_to_do)});
  };
  const std::string cuda_driver = version_text(around.versions.driver);
  const bool works = devices.count > 0, has_driver = around.versions.driver != 0;
  const NoGpu why =
      works ? NoGpu{ExitCode::ok, "", ""} : explain_no_gpu(devices.status, around, nvml);
  if (has_driver)
    add("driver", "NVIDIA driver", CheckStatus::ok,
        fmt::format("{}, supports CUDA {}", nvml.driver_version().value_or("present"),
                    cuda_driver));
  else
    add("driver", "NVIDIA driver", CheckStatus::fail, why.cause + ".", sentence(why.remedy));

  const std::string built = fmt::format("runtime {}, toolkit {}",
                                        version_text(around.versions.runtime), toolkit_version());
  if (!has_driver)
    add("cuda", "CUDA", CheckStatus::skip, built + "; needs the driver");
  else if (!works)
    add("cuda", "CUDA", CheckStatus::fail, why.cause + ".", sentence(why.remedy));
  else if (around.versions.driver < around.versions.runtime)
    add("cuda", "CUDA", CheckStatus::warn,
        fmt::format("{}; the driver is of the older CUDA {}", built, cuda_driver),
        "Works, but features of the newer runtime are missing: update the driver.");
  else
    add("cuda", "CUDA", CheckStatus::ok, built);

  if (nvml.available())
    add("nvml", "NVML", CheckStatus::ok,
        fmt::format("sees {} GPU(s)", nvml.device_count().value_or(0)));
  else if (has_driver)
    add("nvml", "NVML", CheckStatus::warn, sentence(nvml.problem()),
        "Install the driver's utilities (package nvidia-smi) for clocks, power and throttle "
        "reasons.");
  else
    add("nvml", "NVML", CheckStatus::skip, sentence(nvml.problem()));
  return checks;
}

Check check_counter_permission(const std::string& driver_params,
                               const std::string& process_status) {
  Check check{"counter_permission", CheckStatus::ok, {}, "Counter permission", "", ""};
  const auto restricted = file_entry(driver_params, "RmProfilingAdminOnly");
  if (!restricted) {
    check.status = CheckStatus::skip;
    check.detail = fmt::format("unknown: {} does not say", driver_params);
  } else if (*restricted == "0") {
    check.detail = "the driver lets every user read hardware counters";
  } else if (has_admin_capability(process_status)) {
    check.detail = "the driver lets administrators read hardware counters, and this process is one";
  } else {
    check.status = CheckStatus::warn;
    check.detail = "the driver lets only administrators read hardware counters";
    check.what_to_do = grant_counters;
  }
  return check;
}

Check check_architecture(const CudaDevice& device, const std::string& architectures) {
  Check check{"gpu", CheckStatus::ok, device.ordinal, "GPU", "", ""};
  check.detail = fmt::format("{}, compute capability {}.{}, {} SMs", device.name, device.major,
                             device.minor, device.sms);
  if (!architectures_run_on(architectures, device.major, device.minor)) {
    check.status = CheckStatus::fail;
    check.detail += fmt::format("; this build has code for {} only", architectures);
    check.what_to_do = "Build again on this machine: the build takes the GPU that it finds.";
  }
  return check;
}

std::vector<Check> run_doctor(std::optional<int> only) {
  const NvmlLibrary nvml;
  const CudaDeviceCount devices = count_cuda_devices();
  std::vector<Check> checks = check_software(devices, read_surroundings(), nvml);
  if (devices.count == 0) {
    // CUDA is closed, but NVML may still tell what is wrong with a GPU; the numbers are NVML's.
    for (unsigned i = 0; i < nvml.device_count().value_or(0); ++i)
      append(checks, check_gpu(static_cast<int>(i), nvml, nvml.device_by_index(i), false));
    return checks;
  }
  checks.push_back(check_counter_permission());
  const int first = only.value_or(0);
  const int last = only.value_or(devices.count - 1);
  for (int ordinal = first; ordinal <= last; ++ordinal) {
    try {
      const CudaDevice device = read_cuda_device(ordinal, nvml);
      checks.push_back(check_architecture(device, build_architectures()));
      append(checks, check_gpu(ordinal, nvml, nvml.device_by_pci_bus_id(device.pci_bus_id),
                               device.own_context));
      // Last: it opens a context, which would show among the GPU's processes.
      checks.push_back(check_counters(ordinal));
    } catch (const Error& error) {
      checks.push_back({"gpu", CheckStatus::fail, ordinal, "GPU", error.what(), ""});
    }
  }
  return checks;
}

}  // namespace fathom
