#include "gemm/fp32/fed_launch.cuh"

namespace fathom::gemm::fp32 {

FedChoice thread_fed_256x128() {
  return fed_choice<FedTile<8, 16, 4, 2, 8, 4, 8, ThreadFeeder::pad>, ThreadFeeder>();
}

}  // namespace fathom::gemm::fp32
