#include "harness/visible_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results/json_values.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

GpuHealth read_gpu_health(const Reading<NvmlDevice>& gpu) {
  GpuHealth health;
  if (!gpu) return health;
  if (const auto link = gpu->pcie_link()) {
    health.pcie_generation_max = link->generation_max;
    health.pcie_width = link->width;
  }
  health.uncorrected_ecc_errors = gpu->uncorrected_ecc_errors().value;
  if (const auto rows = gpu->remapped_rows()) {
    health.remapped_rows = rows->corrected + rows->uncorrected;
    health.remapping_failed = rows->failed;
    health.remapping_pending = rows->pending;
  }
  if (const auto processes = gpu->compute_processes()) health.processes = processes->size();
  health.application_sm_clock_hz = gpu->application_clock_hz(NvmlClock::sm).value;
  return health;
}

std::vector<VisibleDevice> visible_devices(const NvmlLibrary& nvml) {
  std::vector<VisibleDevice> gpus;
  const int count = count_cuda_devices().count;
  // Where there is no GPU, the first says why.
  for (int ordinal = 0; ordinal < std::max(1, count); ++ordinal) {
    const CudaDevice device = read_cuda_device(ordinal, nvml);
    gpus.push_back({device, read_gpu_health(nvml.device_by_pci_bus_id(device.pci_bus_id))});
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

Json to_json(const std::vector<VisibleDevice>& gpus) {
  Json list = Json::array();
  for (const VisibleDevice& gpu : gpus) {
    const GpuHealth& h = gpu.health;
    list.push_back({{"ordinal", gpu.device.ordinal},
                    {"name", gpu.device.name},
                    {"uuid", uuid_text(gpu.device.uuid)},
                    {"uuid_hash", uuid_hash(gpu.device.uuid)},
                    {"pci_bus_id", gpu.device.pci_bus_id},
                    {"health",
                     {{"pcie_generation", or_null(h.pcie_generation_max)},
                      {"pcie_width", or_null(h.pcie_width)},
                      {"uncorrected_ecc_errors", or_null(h.uncorrected_ecc_errors)},
                      {"remapped_rows", or_null(h.remapped_rows)},
                      {"remapping_failed", h.remapping_failed},
                      {"remapping_pending", h.remapping_pending},
                      {"processes", or_null(h.processes)},
                      {"application_sm_clock_hz", or_null(h.application_sm_clock_hz)}}}});
  }
  return list;
}

}  // namespace fathom
