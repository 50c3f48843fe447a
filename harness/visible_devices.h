#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cuda_device.h"
#include "harness/nvml_library.h"

namespace fathom {

/// What may make a GPU slower than others of its kind, as the driver knows it; empty where it does
/// not tell.
struct GpuHealth {
  std::optional<unsigned> pcie_generation_max, pcie_width;
  std::optional<std::uint64_t> uncorrected_ecc_errors, remapped_rows;
  bool remapping_failed = false, remapping_pending = false;
  std::optional<std::size_t> processes;           ///< with memory on the GPU
  std::optional<double> application_sm_clock_hz;  ///< that a user set; equals the default else
};

GpuHealth read_gpu_health(const Reading<NvmlDevice>& gpu);

/// A GPU that this process sees.
struct VisibleDevice {
  CudaDevice device;
  GpuHealth health;
};

/// All of them, without a context on any. Throws Error as `read_cuda_device` does where there is
/// none.
std::vector<VisibleDevice> visible_devices(const NvmlLibrary& nvml);

/// "GPU-01234567-89ab-...": the text that CUDA_VISIBLE_DEVICES takes.
std::string uuid_text(const std::array<unsigned char, 16>& uuid);

/// [{ordinal, name, uuid, uuid_hash, pci_bus_id, health{}}]; what is not known is null.
nlohmann::ordered_json to_json(const std::vector<VisibleDevice>& gpus);

}  // namespace fathom
