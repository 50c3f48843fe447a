#include "harness/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/counters/range_profiler.h"
#include "results/fields.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;

/// "the driver is absent" -> "The driver is absent."
std::string sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  if (text.back() != '.') text += '.';
  return text;
}

Check check_counters(int ordinal) {
  const std::string problem = CounterSession::problem_on(ordinal);
  if (problem.empty())
    return {"counters", CheckStatus::ok, ordinal, "Hardware counters", "can be read", ""};
  return {"counters", CheckStatus::warn,
          ordinal,    "Hardware counters",
          problem,    "Results come without counters until this is mended."};
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
      std::ranges::move(check_gpu(static_cast<int>(i), nvml, nvml.device_by_index(i)),
                        std::back_inserter(checks));
    return checks;
  }
  const int first = only.value_or(0);
  const int last = only.value_or(devices.count - 1);
  for (int ordinal = first; ordinal <= last; ++ordinal) {
    try {
      const CudaDevice device = read_cuda_device(ordinal, nvml);
      checks.push_back(check_architecture(device, build_architectures()));
      std::ranges::move(check_gpu(ordinal, nvml, nvml.device_by_pci_bus_id(device.pci_bus_id)),
                        std::back_inserter(checks));
      // Last: it opens a context, which would show among the GPU's processes.
      checks.push_back(check_counters(ordinal));
    } catch (const Error& error) {
      checks.push_back({"gpu", CheckStatus::fail, ordinal, "GPU", error.what(), ""});
    }
  }
  return checks;
}

Json to_json(const std::vector<Check>& checks) {
  constexpr const char* statuses[] = {"ok", "warn", "fail", "skip"};
  Json list = Json::array();
  for (const Check& check : checks)
    list.push_back({{"id", check.id},
                    {"status", statuses[static_cast<int>(check.status)]},
                    {"gpu", or_null(check.gpu)},
                    {"what", check.what},
                    {"detail", check.detail},
                    {"what_to_do", check.what_to_do}});
  return {{"checks", std::move(list)}};
}

Json health_json(const Reading<NvmlDevice>& gpu) {
  Json health{{"pcie_generation", nullptr},
              {"pcie_width", nullptr},
              {"uncorrected_ecc_errors", nullptr},
              {"remapped_rows", nullptr},
              {"remapping_failed", false},
              {"remapping_pending", false},
              {"processes", nullptr}};
  if (!gpu) return health;
  if (const auto link = gpu->pcie_link()) {
    health["pcie_generation"] = link->generation_max;
    health["pcie_width"] = link->width;
  }
  if (const auto errors = gpu->uncorrected_ecc_errors()) health["uncorrected_ecc_errors"] = *errors;
  if (const auto rows = gpu->remapped_rows()) {
    health["remapped_rows"] = rows->corrected + rows->uncorrected;
    health["remapping_failed"] = rows->failed;
    health["remapping_pending"] = rows->pending;
  }
  if (const auto processes = gpu->compute_processes()) health["processes"] = processes->size();
  return health;
}

Json gpus_json(const NvmlLibrary& nvml) {
  Json gpus = Json::array();
  const int count = count_cuda_devices().count;
  // Where there is no GPU, the first says why.
  for (int ordinal = 0; ordinal < std::max(1, count); ++ordinal) {
    const CudaDevice device = read_cuda_device(ordinal, nvml);
    gpus.push_back({{"ordinal", device.ordinal},
                    {"name", device.name},
                    {"uuid", uuid_text(device.uuid)},
                    {"uuid_hash", uuid_hash(device.uuid)},
                    {"pci_bus_id", device.pci_bus_id},
                    {"health", health_json(nvml.device_by_pci_bus_id(device.pci_bus_id))}});
  }
  return gpus;
}

std::string uuid_text(const std::array<unsigned char, 16>& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

}  // namespace fathom
