#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/gpu_checks.h"
#include "harness/nvml_library.h"

namespace fathom {

/// {"checks": [{id, status, gpu, what, detail, what_to_do}]}
nlohmann::ordered_json to_json(const std::vector<Check>& checks);

/// All GPUs that this process sees, without a context on any: [{ordinal, name, uuid, uuid_hash,
/// pci_bus_id, health{}}]. Throws Error as `read_cuda_device` does where there is none.
nlohmann::ordered_json gpus_json(const NvmlLibrary& nvml);

/// What may make a GPU slower than others of its kind, as the driver knows it; what it does not
/// tell is null.
nlohmann::ordered_json health_json(const Reading<NvmlDevice>& gpu);

/// "GPU-01234567-89ab-...": the text that CUDA_VISIBLE_DEVICES takes.
std::string uuid_text(const std::array<unsigned char, 16>& uuid);

}  // namespace fathom
