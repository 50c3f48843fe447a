# Turns CUDA on, as C++20. Include after Architectures.cmake.

enable_language(CUDA)

# CMake 3.25.1, which Debian 12 has, does not know yet that nvcc takes -std=c++20 from 12 on.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()

# Not before the language is on: CMake tries the compiler before it knows what the compiler can do.
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
