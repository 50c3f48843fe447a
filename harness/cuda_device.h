#pragma once

#include <cuda_runtime.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "harness/device_facts.h"
#include "harness/nvml_library.h"
#include "results/error.h"

namespace fathom {

/// Versions as CUDA counts them: 1000 x major + 10 x minor; a driver of 0 is not there at all.
struct CudaVersions {
  int driver = 0;
  int runtime = 0;
};
CudaVersions read_cuda_versions();
/// 13000 -> "13.0".
std::string version_text(int cuda_version);
/// The toolkit that compiled this program, e.g. "13.0.88".
std::string toolkit_version();
/// The architectures this program has code for, as CMake lists them, e.g. "80-real;90a-real".
std::string build_architectures();
/// Whether code for one of `architectures` runs on a GPU of this compute capability.
bool architectures_run_on(std::string_view architectures, int major, int minor);

/// Number of GPUs that CUDA can use, and the status if there is none (see `explain_no_gpu`).
struct CudaDeviceCount {
  int count = 0;
  cudaError_t status = cudaSuccess;
};
CudaDeviceCount count_cuda_devices();
/// Throws Error: that of `explain_no_gpu` without a GPU, bad_input for one that does not exist.
CudaDevice read_cuda_device(int ordinal, const NvmlLibrary& nvml);

/// What is around a CUDA runtime that found no GPU.
struct Surroundings {
  CudaVersions versions;
  bool kernel_driver_loaded = false;           ///< /proc/driver/nvidia is there
  std::optional<std::string> visible_devices;  ///< CUDA_VISIBLE_DEVICES, if it is set
};
Surroundings read_surroundings();
/// Why CUDA found no GPU, and what to do about it: no driver, driver too old, a lost GPU, ...
struct NoGpu {
  ExitCode code;
  std::string cause;   ///< a main clause without its full stop
  std::string remedy;  ///< imperative, without a full stop
  Error error() const { return Error(code, cause + ": " + remedy + "."); }
};
NoGpu explain_no_gpu(cudaError_t status, const Surroundings& around, const NvmlLibrary& nvml);

/// FNV-1a, 64 bits, in hex, of the GPU's UUID: tells two GPUs apart without publishing the UUID.
std::string uuid_hash(const std::array<unsigned char, 16>& uuid);

/// What a failed CUDA call means to the user: the exit code of its cause, and what to do.
struct CudaFailure {
  ExitCode code;
  std::string remedy;  ///< imperative, without a full stop
};
CudaFailure explain_cuda_error(cudaError_t status);

}  // namespace fathom
