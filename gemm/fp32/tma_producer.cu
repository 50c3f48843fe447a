#include "gemm/fp32/warp_specialised_launch.cuh"

namespace fathom::gemm::fp32 {

WarpSpecialisedChoice tma_producer_128x256() {
  using Producer = TmaProducer;
  return warp_specialised_choice<
      WarpSpecialisedTile<16, 8, 2, 4, 4, 4, 8, Producer::pad_a, Producer::pad_b, true>,
      Producer>();
}

}  // namespace fathom::gemm::fp32
