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

}  // namespace fathom
