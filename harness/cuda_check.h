#pragma once

#include <cuda_runtime.h>

namespace fathom {

/// Throws Error for a failed CUDA call: the sentence names the call, the place and the CUDA error,
/// and the exit code is that of the cause (out of memory, lost GPU, driver too old, ...).
void check_cuda(cudaError_t status, const char* call, const char* file, int line);

/// A function of the driver's, of this CUDA version, through the runtime: a program that is linked
/// to libcuda cannot start where there is none. Throws Error(driver_too_old) where it is missing.
void* driver_entry_point(const char* name, unsigned version);
template <class Function>
Function* driver_function(const char* name, unsigned version = 12000) {
  return reinterpret_cast<Function*>(driver_entry_point(name, version));
}

}  // namespace fathom

/// Every CUDA runtime call and, with cudaGetLastError, every launch goes through this.
#define FATHOM_CUDA(call) ::fathom::check_cuda((call), #call, __FILE__, __LINE__)
