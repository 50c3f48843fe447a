#include "gemm/ladder/lesson.h"
#include "harness/cuda_check.h"

namespace fathom::gemm {

void launch_blocks(const BlocksLaunch& launch, cudaStream_t stream) {
  void* parameters[] = {launch.product};
  cudaLaunchConfig_t config{};
  config.gridDim = launch.grid;
  config.blockDim = dim3(static_cast<unsigned>(launch.threads));
  config.stream = stream;
  FATHOM_CUDA(cudaLaunchKernelExC(&config, launch.kernel, parameters));
}

}  // namespace fathom::gemm
