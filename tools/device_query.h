#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

// This program itself knows nothing of CUDA, so that it runs, replays and reports on any machine:
// it asks the program `fathom-device` in the folder `programs`.

/// Throws Error with the code and sentence of `fathom-device`: no driver, driver too old, GPU lost,
/// GPU busy, or no such device; and where `read` throws, for a missing member or another type.
void ask_device(const std::filesystem::path& programs, const std::vector<std::string>& arguments,
                const std::function<void(const nlohmann::ordered_json&)>& read);

/// The GPU with CUDA's number `device`; throws as above.
Fingerprint query_device(const std::filesystem::path& programs, int device);

/// PCI address of an NVIDIA GPU in this machine, driver or not; empty if there is none.
/// FATHOM_PCI_DEVICES names another folder than /sys/bus/pci/devices.
std::string nvidia_gpu_on_pci();

}  // namespace fathom
