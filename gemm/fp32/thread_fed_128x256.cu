#include "gemm/fp32/fed_launch.cuh"

namespace fathom::gemm::fp32 {

FedChoice thread_fed_128x256() {
  return fed_choice<FedTile<16, 8, 2, 4, 4, 4, 16, ThreadFeeder::pad, true>, ThreadFeeder>();
}

}  // namespace fathom::gemm::fp32
