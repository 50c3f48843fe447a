#include "harness/counters/cupti_device.h"

#include <cuda_runtime.h>

#include "harness/counters/cupti_library.h"
#include "harness/cuda_check.h"

namespace fathom {

void initialise_profilers(int device) {
  const CuptiLibrary& cupti = cupti_library();
  FATHOM_CUDA(cudaSetDevice(device));
  FATHOM_CUDA(cudaFree(nullptr));
  // Once for the program: CUPTI stays initialised, since other sessions follow.
  static const CUptiResult result = [&cupti] {
    FATHOM_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
    return cupti.cuptiProfilerInitialize(&params);
  }();
  check_cupti(result, "cuptiProfilerInitialize");
}

CUcontext current_context() {
  CUcontext context = nullptr;
  const CUresult result = driver_function<CUresult(CUcontext*)>("cuCtxGetCurrent")(&context);
  if (result != CUDA_SUCCESS || context == nullptr)
    throw CounterError(CounterProblem::failed, "there is no current CUDA context");
  return context;
}

std::string chip_name(int device) {
  FATHOM_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
  params.deviceIndex = static_cast<std::size_t>(device);
  FATHOM_CUPTI(cuptiDeviceGetChipName, params);
  return params.pChipName;
}

CounterProblem device_problem(int device) {
  CUdevice handle = 0;
  const CUresult result = driver_function<CUresult(CUdevice*, int)>("cuDeviceGet")(&handle, device);
  if (result != CUDA_SUCCESS) throw CounterError(CounterProblem::failed, "cuDeviceGet failed");

  FATHOM_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
  params.cuDevice = handle;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  FATHOM_CUPTI(cuptiProfilerDeviceSupported, params);
  const auto closed = [](CUpti_Profiler_Support_Level level) {
    return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
           level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
  };
  if (closed(params.architecture)) return CounterProblem::unsupported_gpu;
  if (closed(params.wsl)) return CounterProblem::wsl;
  if (closed(params.vGpu)) return CounterProblem::vgpu;
  if (closed(params.confidentialCompute)) return CounterProblem::confidential_computing;
  if (closed(params.cmp)) return CounterProblem::mining_gpu;
  if (closed(params.sli)) return CounterProblem::sli;
  return closed(params.isSupported) ? CounterProblem::unsupported_gpu : CounterProblem::none;
}

std::vector<std::uint8_t> counter_availability() {
  FATHOM_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  params.ctx = current_context();
  FATHOM_CUPTI(cuptiProfilerGetCounterAvailability, params);
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  FATHOM_CUPTI(cuptiProfilerGetCounterAvailability, params);
  return image;
}

}  // namespace fathom
