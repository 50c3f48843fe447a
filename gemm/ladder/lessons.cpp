#include "gemm/bench/rung.h"
#include "gemm/ladder/simt_lesson.h"
#include "harness/cuda_check.h"

namespace fathom::gemm {

namespace fp64 {
Lesson tensor_cores(), wide_products(), tma(), cluster_multicast();
}
namespace half {
// Each multiplies either type.
Lesson wmma_global(bool is_bf16), wmma_shared(bool), mma_sync(bool), multistage(bool), wgmma(bool),
    warp_specialised(bool), wide_tile(bool), persistent(bool), cluster_multicast(bool),
    overlapped_epilogue(bool);
// tf32, fp8 and int8, which wgmma takes along k alone.
Lesson wgmma_tf32(), fast_sums(), wgmma_int8();
}  // namespace half
namespace along_k {
Lesson promoted();
}

std::vector<Rung> lessons_of(Class of) {
  std::vector<Lesson> lessons = simt_lessons(of);
  const auto add = [&](std::initializer_list<Lesson> more) { lessons.insert(lessons.end(), more); };
  if (of == Class::fp64)
    add({fp64::tensor_cores(), fp64::wide_products(), fp64::tma(), fp64::cluster_multicast()});
  if (of == Class::fp16 || of == Class::bf16) {
    using namespace half;
    for (const auto lesson :
         {wmma_global, wmma_shared, mma_sync, multistage, wgmma, warp_specialised, wide_tile,
          persistent, cluster_multicast, overlapped_epilogue})
      add({lesson(of == Class::bf16)});
  }
  if (of == Class::tf32) add({half::wgmma_tf32()});
  if (of == Class::int8) add({half::wgmma_int8()});
  if (of == Class::fp8) add({half::fast_sums(), along_k::promoted()});
  std::vector<Rung> rungs;
  for (const Lesson& lesson : lessons) rungs.push_back(rung_of(of, lesson));
  return rungs;
}

void launch_blocks(const BlocksLaunch& launch, cudaStream_t stream) {
  void* parameters[] = {launch.product};
  cudaLaunchConfig_t config{};
  config.gridDim = launch.grid;
  config.blockDim = dim3(static_cast<unsigned>(launch.threads));
  config.stream = stream;
  FATHOM_CUDA(cudaLaunchKernelExC(&config, launch.kernel, parameters));
}

}  // namespace fathom::gemm
