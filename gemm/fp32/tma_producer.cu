#include "gemm/fp32/fed_launch.cuh"

namespace fathom::gemm::fp32 {

FedChoice engine_fed_128x256() {
  using Feeder = EngineFeeder;
  return fed_choice<FedTile<16, 8, 2, 4, 4, 4, 8, Feeder::pad_a, Feeder::pad_b, true>, Feeder>();
}

}  // namespace fathom::gemm::fp32
