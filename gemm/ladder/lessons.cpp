#include <algorithm>
#include <iterator>
#include <string>

#include "gemm/ladder/lesson.h"
#include "harness/cuda_check.h"

namespace fathom::gemm {

namespace fp64 {
Lesson shared_memory(), register_tile(), tensor_cores(), wide_products(), tma(),
    cluster_multicast();
}
/// fp16 and bf16: every lesson multiplies either type.
namespace half {
Lesson wmma_global(Class), wmma_shared(Class), mma_sync(Class), multistage(Class), wgmma(Class),
    warp_specialised(Class), wide_tile(Class), persistent(Class), cluster_multicast(Class),
    overlapped_epilogue(Class);
}
/// tf32, fp8 and int8, which wgmma takes along k alone; `promoted` is fp8's.
namespace along_k {
Lesson wgmma(Class), promoted();
}

std::vector<Lesson> lessons_of(Class of) {
  switch (of) {
    case Class::fp32:
      return fp32_lessons();
    case Class::fp32_3xtf32:
      return {};
    case Class::fp64:
      return {fp64::shared_memory(), fp64::register_tile(), fp64::tensor_cores(),
              fp64::wide_products(), fp64::tma(),           fp64::cluster_multicast()};
    case Class::fp16:
    case Class::bf16:
      return {half::wmma_global(of),        half::wmma_shared(of), half::mma_sync(of),
              half::multistage(of),         half::wgmma(of),       half::warp_specialised(of),
              half::wide_tile(of),          half::persistent(of),  half::cluster_multicast(of),
              half::overlapped_epilogue(of)};
    case Class::tf32:
    case Class::int8:
      return {along_k::wgmma(of)};
    case Class::fp8:
      return {along_k::wgmma(of), along_k::promoted()};
  }
  return {};
}

std::vector<Lesson> all_lessons() {
  std::vector<Lesson> all;
  for (const ClassTraits& type : all_classes())
    std::ranges::move(lessons_of(type.of), std::back_inserter(all));
  return all;
}

const Lesson* find_lesson(const std::string& id) {
  static const std::vector<Lesson> lessons = all_lessons();
  const auto found = std::ranges::find(lessons, id, &Lesson::id);
  return found == lessons.end() ? nullptr : &*found;
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
