#pragma once

#include "harness/cuda_device.h"
#include "harness/device_facts.h"
#include "harness/nvml_library.h"

namespace fathom {

/// `query_device_facts` from readings that were taken already. Throws Error(gpu_lost).
DeviceFacts assemble_device_facts(const CudaDevice& cuda, const CudaVersions& versions,
                                  const NvmlLibrary& nvml);

}  // namespace fathom
