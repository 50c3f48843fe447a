#pragma once

// Stands before every kernel that is compiled as C++ (tests/host/CMakeLists.txt): what CUDA gives a
// kernel and C++ does not. Types such as float4 and dim3 are the toolkit's own. One block runs at a
// time, so that shared memory is static memory.

#include <cuda_runtime.h>

#include <cmath>

#undef __shared__
#undef __launch_bounds__
#define __shared__ static
#define __launch_bounds__(...)

// The thread that runs at present.
extern uint3 threadIdx;
extern uint3 blockIdx;

void __syncthreads();
float __shfl_sync(unsigned mask, float value, int source);
