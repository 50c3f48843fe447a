#include "gemm/ladder/half/lessons.h"

namespace fathom::gemm {

std::vector<Lesson> half_lessons(Class of) {
  return {half::wmma_global(of), half::wmma_shared(of),       half::mma_sync(of),
          half::multistage(of),  half::wgmma(of),             half::warp_specialised(of),
          half::wide_tile(of),   half::persistent(of),        half::cluster_multicast(of),
          half::overlapped_epilogue(of)};
}

}  // namespace fathom::gemm
