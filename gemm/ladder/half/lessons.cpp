#include "gemm/ladder/half/lessons.h"

namespace fathom::gemm {

std::vector<Lesson> half_lessons(Class of) {
  return {half::wmma_global(of), half::wmma_shared(of), half::mma_sync(of), half::multistage(of)};
}

}  // namespace fathom::gemm
