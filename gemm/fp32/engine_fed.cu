#include "gemm/fp32/fed_launch.cuh"

namespace fathom::gemm::fp32 {

FedChoice engine_fed_128x256() {
  return fed_choice<FedTile<8, 16, 2, 4, 8, 4, 16, EngineFeeder::pad>, EngineFeeder>();
}

}  // namespace fathom::gemm::fp32
