#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/nvml_library.h"

namespace fathom {

/// `skip`: could not be checked, or does not apply here.
enum class CheckStatus { ok, warn, fail, skip };

/// One thing that was looked at before measuring.
struct Check {
  std::string id;  ///< stable name, e.g. "pcie_link"
  CheckStatus status = CheckStatus::ok;
  std::optional<int> gpu;  ///< CUDA's ordinal; empty for a check of the whole machine
  std::string what;        ///< short title, e.g. "PCIe link"
  std::string detail;      ///< what was found
  std::string what_to_do;  ///< a sentence; empty where there is nothing to do
};

/// Everything NVML knows about one GPU that can spoil or limit a measurement: ECC and memory
/// errors, MIG, virtualisation, clocks, power limit, throttling, temperature, other processes,
/// memory in use, PCIe link, modes. `own_context`: this process itself already uses the GPU, so
/// that its memory and its process are not somebody else's.
std::vector<Check> check_gpu(int ordinal, const NvmlLibrary& nvml, const Reading<NvmlDevice>& gpu,
                             bool own_context);

}  // namespace fathom
