#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/cuda_device.h"
#include "harness/gpu_checks.h"

namespace fathom {

/// What a doctor's round looks at; the defaults are this machine.
struct DoctorOptions {
  std::optional<int> device;  ///< one GPU; empty: all of them
  /// Asks the counters library itself for the GPU with this ordinal: empty text if counters can be
  /// read, else one sentence why not. Unset: only the driver's settings are read.
  std::function<std::string(int ordinal)> counters_problem;
  std::string driver_params = "/proc/driver/nvidia/params";
  std::string process_status = "/proc/self/status";
};

/// Checks driver, toolkit, NVML, GPUs, permission to read counters, and each GPU's state, in the
/// order in which a user should mend them. Never throws for a fault that it can describe.
std::vector<Check> run_doctor(const DoctorOptions& options = {});

// The parts of it that need no GPU, for tests.

/// Driver, CUDA and toolkit, from what the runtime answered.
std::vector<Check> check_software(const CudaDeviceCount& devices, const Surroundings& around,
                                  const NvmlLibrary& nvml);
/// Whether the driver lets this process read hardware counters, from its settings.
Check check_counter_permission(const DoctorOptions& options);
Check check_architecture(const CudaDevice& device, const std::string& architectures);

}  // namespace fathom
