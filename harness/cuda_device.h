#pragma once

#include <cuda_runtime.h>

#include <string>

#include "harness/device_facts.h"
#include "results/error.h"

namespace fathom {

/// Number of GPUs that CUDA can use, and the status if there is none (see `explain_no_gpu`).
struct CudaDeviceCount {
  int count = 0;
  cudaError_t status = cudaSuccess;
};
CudaDeviceCount count_cuda_devices();

/// What a failed CUDA call means to the user: the exit code of its cause, and what to do.
struct CudaFailure {
  ExitCode code;
  std::string cause;   ///< a main clause without its full stop, or "cudaErrorX (its text)"
  std::string remedy;  ///< imperative, without a full stop
};
CudaFailure explain_cuda_error(cudaError_t status);
/// Why CUDA found no GPU: no driver, driver too old, a lost GPU, ...
CudaFailure explain_no_gpu(cudaError_t status, const CudaVersions& versions,
                           const NvmlLibrary& nvml);

}  // namespace fathom
