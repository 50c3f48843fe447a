#include "gemm/bench/rung.h"
#include "gemm/ladder/simt_lesson.h"
#include "harness/cuda_check.h"

namespace fathom::gemm {

namespace fp64 {
Lesson shared_memory(), register_tile(), tensor_cores(), wide_products(), tma(),
    cluster_multicast();
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

namespace {

std::vector<Lesson> half_lessons(bool is_bf16) {
  using namespace half;
  std::vector<Lesson> all;
  for (const auto lesson : {wmma_global, wmma_shared, mma_sync, multistage, wgmma, warp_specialised,
                            wide_tile, persistent, cluster_multicast, overlapped_epilogue})
    all.push_back(lesson(is_bf16));
  return all;
}

std::vector<Lesson> written_lessons(Class of) {
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
      return half_lessons(of == Class::bf16);
    case Class::tf32:
      return {half::wgmma_tf32()};
    case Class::int8:
      return {half::wgmma_int8()};
    case Class::fp8:
      return {half::fast_sums(), along_k::promoted()};
  }
  return {};
}

}  // namespace

std::vector<Rung> lessons_of(Class of) {
  std::vector<Rung> rungs;
  for (const Lesson& lesson : written_lessons(of)) rungs.push_back(rung_of(of, lesson));
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
