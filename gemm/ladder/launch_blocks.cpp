#include "gemm/ladder/lesson.h"
#include "harness/cuda_check.h"

namespace fathom::gemm {

void launch_blocks(LessonKernel kernel, dim3 grid, int threads, const LessonProduct& product,
                   cudaStream_t stream) {
  LessonProduct parameter = product;
  void* parameters[] = {&parameter};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  FATHOM_CUDA(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), parameters));
}

}  // namespace fathom::gemm
