#include "harness/device_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cuda_device.h"
#include "results/json_values.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(CheckStatus status) {
  constexpr const char* names[] = {"ok", "warn", "fail", "skip"};
  return names[static_cast<int>(status)];
}

}  // namespace

Json to_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks)
    list.push_back({{"id", check.id},
                    {"status", name_of(check.status)},
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
