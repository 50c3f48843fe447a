#pragma once

#include <cuda_runtime.h>

#include <string>

#include "results/exit_codes.h"

namespace fathom {

/// What a failed CUDA call means to the user: the exit code of its cause, and what to do.
struct CudaFailure {
  ExitCode code;
  std::string remedy;  ///< imperative, without a full stop
};
CudaFailure explain_cuda_error(cudaError_t status);

/// Throws Error for a failed CUDA call: the sentence names the call, the place and the CUDA error,
/// and the exit code is that of the cause (out of memory, lost GPU, driver too old, ...).
void check_cuda(cudaError_t status, const char* call, const char* file, int line);

}  // namespace fathom

/// Every CUDA runtime call and, with cudaGetLastError, every launch goes through this.
#define FATHOM_CUDA(call) ::fathom::check_cuda((call), #call, __FILE__, __LINE__)
