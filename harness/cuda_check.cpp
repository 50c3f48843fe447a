#include "harness/cuda_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/doctor.h"
#include "results/text.h"

namespace fathom {
namespace {

constexpr const char* driver_remedy =
    "install a newer NVIDIA driver, or build with the CUDA toolkit that this driver supports";

struct Cause {
  ExitCode code;
  const char* remedy;
  std::vector<cudaError_t> errors;
};
const std::vector<Cause> causes = {
    {ExitCode::gpu_out_of_memory,
     "end other processes on the GPU (nvidia-smi lists them), or choose smaller sizes",
     {cudaErrorMemoryAllocation}},
    {ExitCode::no_driver,
     "run `fathom doctor`: it says what is missing",
     {cudaErrorNoDevice, cudaErrorStubLibrary}},
    {ExitCode::no_driver,
     "start the GPU's fabric manager (systemctl start nvidia-fabricmanager)",
     {cudaErrorSystemNotReady}},
    {ExitCode::driver_too_old,
     driver_remedy,
     {cudaErrorInsufficientDriver, cudaErrorCallRequiresNewerDriver, cudaErrorUnsupportedPtxVersion,
      cudaErrorSystemDriverMismatch, cudaErrorCompatNotSupportedOnDevice}},
    {ExitCode::gpu_busy,
     "end the process that holds the GPU (nvidia-smi lists it), or set the compute mode back "
     "(nvidia-smi -c DEFAULT)",
     {cudaErrorDevicesUnavailable, cudaErrorDeviceAlreadyInUse, cudaErrorMpsConnectionFailed,
      cudaErrorMpsRpcFailure, cudaErrorMpsServerNotReady, cudaErrorMpsMaxClientsReached,
      cudaErrorMpsMaxConnectionsReached}},
    {ExitCode::bad_input,
     "choose a GPU that exists: `fathom doctor` lists them",
     {cudaErrorInvalidDevice}},
    {ExitCode::partitioned_gpu,
     "license this virtual GPU, or use a whole one",
     {cudaErrorDeviceNotLicensed}},
    {ExitCode::setup_incomplete,
     "build again on this machine, since this build has no code for its GPU",
     {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction,
      cudaErrorInvalidKernelImage}},
    {ExitCode::gpu_lost,
     "look for Xid lines in the kernel log (dmesg), then reset the GPU or restart the machine",
     {cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable, cudaErrorContained,
      cudaErrorHardwareStackError, cudaErrorExternalDevice}},
    {ExitCode::probe_timed_out,
     "use a GPU without a display, whose driver does not end long kernels",
     {cudaErrorLaunchTimeout}},
    {ExitCode::probe_crashed,
     "run the same command under compute-sanitizer, which says where the kernel goes wrong",
     {cudaErrorIllegalAddress, cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
      cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorLaunchFailure, cudaErrorAssert}}};

}  // namespace

CudaFailure explain_cuda_error(cudaError_t status) {
  const std::string name =
      fmt::format("{} ({})", cudaGetErrorName(status), cudaGetErrorString(status));
  for (const auto& [code, remedy, errors] : causes)
    if (std::ranges::count(errors, status) > 0) return {code, name, remedy};
  return {ExitCode::probe_crashed, name,
          "run `fathom doctor`; if it finds nothing wrong, report this as a bug"};
}

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  const CudaFailure failure = explain_cuda_error(status);
  fail(failure.code, "{} at {}:{} failed with {}: {}.", call, file, line, failure.cause,
       failure.remedy);
}

void* driver_entry_point(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  FATHOM_CUDA(
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess || function == nullptr)
    fail(ExitCode::driver_too_old, "The driver has no {}: {}.", name, driver_remedy);
  return function;
}

}  // namespace fathom
