// A program for `fathom explain`: explain_app [ROUNDS [EXIT_STATUS]]. ROUNDS 0 ends in a fault.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/gpu/explain_planted.h"

using namespace fathom::test;

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  const int status = argc > 2 ? std::atoi(argv[2]) : 0;
  PlantedBuffers buffers{};
  const std::vector<int> order = planted_order();
  int* copied = nullptr;
  if (cudaMalloc(&buffers.in, planted_bytes) != cudaSuccess ||
      cudaMalloc(&buffers.out, planted_bytes) != cudaSuccess ||
      cudaMalloc(&copied, sizeof(int) * order.size()) != cudaSuccess)
    return 99;
  cudaMemset(buffers.in, 0, planted_bytes);
  cudaMemcpy(copied, order.data(), sizeof(int) * order.size(), cudaMemcpyHostToDevice);
  buffers.order = copied;
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
