#include "gemm/ladder/fp64/lessons.h"

namespace fathom::gemm {

std::vector<Lesson> fp64_lessons() {
  return {fp64::shared_memory(), fp64::register_tile(), fp64::tensor_cores(),
          fp64::wide_products(), fp64::tma(),           fp64::cluster_multicast()};
}

}  // namespace fathom::gemm
