// A program for `fathom explain`: explain_app [ROUNDS [EXIT_STATUS]]. ROUNDS 0 ends in a fault.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "tests/gpu/explain_planted.h"

using namespace fathom::test;

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  const int status = argc > 2 ? std::atoi(argv[2]) : 0;
  PlantedBuffers buffers;
  if (!buffers.allocate()) return 99;
  std::puts("begin");
  for (int round = 0; round < rounds; ++round)
    for (const Planted& kernel : planted_kernels()) kernel.launch(buffers, nullptr);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("end: %s\n", cudaGetErrorString(error));
  if (rounds == 0) {
    planted_kernels().front().launch({}, nullptr);  // reads from address 0
    std::printf("fault: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    std::abort();
  }
  return error == cudaSuccess ? status : 98;
}
