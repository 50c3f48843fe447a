# Turns CUDA on, as C++20, and finds what the probes and the ladder need of the toolkit beside what
# Dependencies.cmake finds. Include after Architectures.cmake.
#
# Targets: CUDA::cudart, CUDA::cudart_static, fathom_cupti_headers.

enable_language(CUDA)

# CMake 3.25.1, which Debian 12 has, does not know yet that nvcc takes -std=c++20 from 12 on.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()

# Not before the language is on: CMake tries the compiler before it knows what the compiler can do.
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)

# 12.8 is the first that compiles for Blackwell and has CUPTI's range profiler for it.
find_package(CUDAToolkit 12.8 REQUIRED)

# CUPTI is loaded at run time, so that a machine without it still measures times: only its headers
# are needed here.
if(NOT EXISTS ${CUDAToolkit_CUPTI_INCLUDE_DIR}/cupti_range_profiler.h)
  message(FATAL_ERROR "The CUDA toolkit in ${CUDAToolkit_BIN_DIR} has no cupti_range_profiler.h: "
    "install its CUPTI part (package cuda-cupti-dev), or run ./fathom with FATHOM_TOOLKIT=wheels.")
endif()
add_library(fathom_cupti_headers INTERFACE)
target_include_directories(fathom_cupti_headers SYSTEM INTERFACE ${CUDAToolkit_CUPTI_INCLUDE_DIR})
target_link_libraries(fathom_cupti_headers INTERFACE CUDA::toolkit)

# Where parts of a toolkit may lie, one of wheels by ./fathom included.
set(fathom_toolkit_roots ${CUDAToolkit_TARGET_DIR} ${CUDAToolkit_LIBRARY_ROOT}
    ${CUDAToolkit_BIN_DIR}/.. ${PROJECT_BINARY_DIR}/toolkit)

# Programs in the build tree find CUPTI and cuBLAS where this toolkit has them. Installed ones do
# not know that path: harness/toolkit_libraries.h says where they look.
foreach(library ${CUDA_cupti_LIBRARY} ${CUDA_cublas_LIBRARY})
  if(library)
    get_filename_component(folder ${library} DIRECTORY)
    list(APPEND CMAKE_BUILD_RPATH ${folder})
  endif()
endforeach()

# For the compiled-code tests (and the sanitizer for the GPU tests): the toolkit's own, else those
# that `./fathom test` put into the build tree. Each is <NAME>-NOTFOUND where there is none.
foreach(tool cuobjdump nvdisasm compute-sanitizer)
  string(TOUPPER FATHOM_${tool} variable)
  string(REPLACE "-" "_" variable ${variable})
  find_program(${variable} ${tool}
    HINTS ${CUDAToolkit_BIN_DIR} ${PROJECT_BINARY_DIR}/toolkit/bin)
endforeach()
