#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

// This program itself knows nothing of CUDA, so that it runs, replays and reports on any machine:
// it asks the program `fathom-device` in the folder `programs`.

/// The GPU with CUDA's number `device`. Throws Error with the code and sentence of `fathom-device`:
/// no driver, driver too old, GPU lost, GPU busy, or no such device.
Fingerprint query_device(const std::filesystem::path& programs, int device);

/// A GPU that this process sees, with what may make it slower than others of its kind.
struct VisibleGpu {
  std::string name, uuid, uuid_hash;  ///< the UUID as CUDA_VISIBLE_DEVICES takes it
  std::string pci_bus_id;
  std::optional<double> pcie_generation, pcie_width, uncorrected_ecc_errors, remapped_rows,
      processes;
  bool remapping_failed = false, remapping_pending = false;
};

/// All of them; throws as query_device does where there is none.
std::vector<VisibleGpu> query_gpus(const std::filesystem::path& programs);

/// The checks of `fathom-device`, of one GPU or of all, a line of `fathom doctor` each: "id"
/// ("driver", "gpu", ...), "status" ("ok", "warn", "fail" or "skip"), "gpu" (CUDA's number; null
/// for a check of the whole machine), "what", "detail" and "what_to_do" (empty: nothing).
nlohmann::ordered_json query_checks(const std::filesystem::path& programs,
                                    std::optional<int> device);

/// PCI address of an NVIDIA GPU in this machine, driver or not; empty if there is none.
/// FATHOM_PCI_DEVICES names another folder than /sys/bus/pci/devices.
std::string nvidia_gpu_on_pci();

}  // namespace fathom
