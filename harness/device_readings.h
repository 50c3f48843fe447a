#pragma once

#include "harness/cuda_device.h"
#include "harness/device_facts.h"
#include "harness/nvml_library.h"

namespace fathom {

/// `query_device_facts` from readings that were taken already. Throws Error(gpu_lost).
DeviceFacts assemble_device_facts(const CudaDevice& cuda, const CudaVersions& versions,
                                  const NvmlLibrary& nvml, bool beside_siblings = false);

/// `query_device_facts` for a program that may be started together with others of its kind on the
/// same GPU: no warning of processes and memory, since those of its siblings are no disturbance.
DeviceFacts query_device_facts(int ordinal, bool beside_siblings);

}  // namespace fathom
