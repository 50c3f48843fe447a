#include "gemm/ladder/lessons.h"
#include "gemm/ladder/simt_lesson.h"
#include "harness/cuda_check.h"

struct __half;
struct __nv_bfloat16;

namespace fathom::gemm {

namespace fp64 {
Lesson shared_memory(), register_tile(), tensor_cores(), wide_products(), tma(),
    cluster_multicast();
}
namespace half {
// Each multiplies either type.
template <class Element>
Lesson wmma_global();
template <class Element>
Lesson wmma_shared();
template <class Element>
Lesson mma_sync();
template <class Element>
Lesson multistage();
template <class Element>
Lesson wgmma();
template <class Element>
Lesson warp_specialised();
template <class Element>
Lesson wide_tile();
template <class Element>
Lesson persistent();
template <class Element>
Lesson cluster_multicast();
template <class Element>
Lesson overlapped_epilogue();

template <class Element>
std::vector<Lesson> lessons() {
  return {wmma_global<Element>(),        wmma_shared<Element>(), mma_sync<Element>(),
          multistage<Element>(),         wgmma<Element>(),       warp_specialised<Element>(),
          wide_tile<Element>(),          persistent<Element>(),  cluster_multicast<Element>(),
          overlapped_epilogue<Element>()};
}
}  // namespace half
/// tf32, fp8 and int8, which wgmma takes along k alone.
namespace along_k {
Lesson wgmma_tf32(), fast_sums(), promoted(), wgmma_int8();
}

namespace {

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
      return half::lessons<__half>();
    case Class::bf16:
      return half::lessons<__nv_bfloat16>();
    case Class::tf32:
      return {along_k::wgmma_tf32()};
    case Class::int8:
      return {along_k::wgmma_int8()};
    case Class::fp8:
      return {along_k::fast_sums(), along_k::promoted()};
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
