#include "gemm/fp32/fed_launch.cuh"

namespace fathom::gemm::fp32 {

FedChoice transposing_fed_b() {
  using Feeder = TransposingFeeder<false, true>;
  return fed_choice<FedTile<16, 8, 2, 4, 4, 4, 8, Feeder::pad_a, Feeder::pad_b, true>, Feeder>();
}

}  // namespace fathom::gemm::fp32
