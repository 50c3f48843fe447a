#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cuda_device.h"
#include "harness/gpu_checks.h"

namespace fathom {

/// Checks driver, toolkit, NVML, GPUs (all, or one), permission to read counters, and each GPU's
/// state, in the order in which a user should mend them. Never throws for a fault that it can
/// describe.
std::vector<Check> run_doctor(std::optional<int> only);

// The parts of it that need no GPU, for tests.

/// Driver, CUDA and toolkit, from what the runtime answered.
std::vector<Check> check_software(const CudaDeviceCount& devices, const Surroundings& around,
                                  const NvmlLibrary& nvml);
/// Whether the driver lets this process read hardware counters, from its settings.
Check check_counter_permission(const std::string& driver_params = "/proc/driver/nvidia/params",
                               const std::string& process_status = "/proc/self/status");
Check check_architecture(const CudaDevice& device, const std::string& architectures);

}  // namespace fathom
