# Which GPU the kernels are compiled for: FATHOM_ARCHITECTURES where the user set it, else the GPUs
# of this machine, else Hopper. Include before Cuda.cmake.

# Turing, A100, other Ampere, Ada, Hopper, Blackwell data centre and desktop.
set(FATHOM_ALL_ARCHITECTURES 75 80 86 89 90a 100a 120a)

set(FATHOM_ARCHITECTURES "" CACHE STRING
  "Architectures to compile for: '80;90a', 'all'; empty: the GPU in this machine, else 90a")

set(CMAKE_CUDA_ARCHITECTURES ${FATHOM_ARCHITECTURES})
if(FATHOM_ARCHITECTURES STREQUAL "all")
  set(CMAKE_CUDA_ARCHITECTURES ${FATHOM_ALL_ARCHITECTURES})
elseif(NOT CMAKE_CUDA_ARCHITECTURES)
  find_program(FATHOM_NVIDIA_SMI nvidia-smi)
  execute_process(
    COMMAND ${FATHOM_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE fathom_found ERROR_QUIET RESULT_VARIABLE fathom_status TIMEOUT 30)
  # A broken driver makes nvidia-smi print a sentence: take only what looks like a capability.
  if(fathom_status EQUAL 0)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" CMAKE_CUDA_ARCHITECTURES "${fathom_found}")
  endif()
  list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
  list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "\\." "")
  # "9.0" -> "90a". From 9.0 on the 'a' variant is the one that has wgmma, TMA with multicast,
  # setmaxnreg and their successors; it runs on that very capability only.
  list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^(9.|...+)$" "\\1a")
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90a)
  endif()
endif()

# "-real": machine code only. A PTX that the driver compiles at run time would be other code than
# the one that the compiled-code tests looked at.
list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^([0-9]+[af]?)$" "\\1-real")
message(STATUS "Kernels are compiled for: ${CMAKE_CUDA_ARCHITECTURES}")
