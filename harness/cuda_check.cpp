#include "harness/cuda_check.h"
#include "harness/cuda_device.h"

#include <fmt/format.h>

#include "results/fail.h"

namespace fathom {
namespace {

constexpr const char* fault_remedy =
    "run the same command under compute-sanitizer, which says where the kernel goes wrong";
constexpr const char* lost_remedy =
    "look for Xid lines in the kernel log (dmesg), then reset the GPU or restart the machine";
constexpr const char* busy_remedy =
    "end the process that holds the GPU (nvidia-smi lists it), or set the compute mode back "
    "(nvidia-smi -c DEFAULT)";
constexpr const char* driver_remedy =
    "install a newer NVIDIA driver, or build with the CUDA toolkit that this driver supports";

}  // namespace

CudaFailure explain_cuda_error(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return {ExitCode::ok, ""};
    case cudaErrorMemoryAllocation:
      return {ExitCode::gpu_out_of_memory,
              "end other processes on the GPU (nvidia-smi lists them), or choose smaller "
              "sizes"};
    case cudaErrorNoDevice:
    case cudaErrorStubLibrary:
      return {ExitCode::no_driver, "run `fathom doctor`: it says what is missing"};
    case cudaErrorSystemNotReady:
      return {ExitCode::no_driver,
              "start the GPU's fabric manager (systemctl start nvidia-fabricmanager)"};
    case cudaErrorInsufficientDriver: {
      int version = 0;  // 0: there is no driver library at all
      const bool absent = cudaDriverGetVersion(&version) != cudaSuccess || version == 0;
      if (absent) return {ExitCode::no_driver, "install the NVIDIA driver"};
      return {ExitCode::driver_too_old, driver_remedy};
    }
    case cudaErrorCallRequiresNewerDriver:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return {ExitCode::driver_too_old, driver_remedy};
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceAlreadyInUse:
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
      return {ExitCode::gpu_busy, busy_remedy};
    case cudaErrorInvalidDevice:
      return {ExitCode::bad_input, "choose a GPU that exists: `fathom doctor` lists them"};
    case cudaErrorDeviceNotLicensed:
      return {ExitCode::partitioned_gpu, "license this virtual GPU, or use a whole one"};
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
      return {ExitCode::setup_incomplete,
              "build again on this machine, since this build has no code for its GPU"};
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorHardwareStackError:
    case cudaErrorExternalDevice:
      return {ExitCode::gpu_lost, lost_remedy};
    case cudaErrorLaunchTimeout:
      return {ExitCode::probe_timed_out,
              "use a GPU without a display, whose driver does not end long kernels"};
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
      return {ExitCode::probe_crashed, fault_remedy};
    default:
      return {ExitCode::probe_crashed,
              "run `fathom doctor`; if it finds nothing wrong, report this as a bug"};
  }
}

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  const CudaFailure failure = explain_cuda_error(status);
  fail(failure.code, "{} at {}:{} failed with {} ({}): {}.", call, file, line,
       cudaGetErrorName(status), cudaGetErrorString(status), failure.remedy);
}

}  // namespace fathom
