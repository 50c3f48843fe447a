# Facts about the GPU: driver and NVML, telemetry, doctor's checks.
set(FATHOM_DEVICE_SOURCES
  cuda_check.cpp
  cuda_device.cpp
  device_facts.cpp
  device_json.cpp
  doctor.cpp
  gpu_checks.cpp
  nvml_library.cpp
  telemetry.cpp)

# What this build is for and made by; the same text is in every result's fingerprint.
list(JOIN CMAKE_CUDA_ARCHITECTURES ", " fathom_architectures)
set_source_files_properties(cuda_device.cpp PROPERTIES COMPILE_DEFINITIONS
  "FATHOM_BUILD_ARCHITECTURES=\"${fathom_architectures}\"\
;FATHOM_TOOLKIT_VERSION=\"${CMAKE_CUDA_COMPILER_VERSION}\"")
