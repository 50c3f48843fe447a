#include "gemm/fp32/warp_specialised_launch.cuh"

namespace fathom::gemm::fp32 {

WarpSpecialisedChoice thread_producer_128x256() {
  using Producer = ThreadProducer;
  return warp_specialised_choice<
      WarpSpecialisedTile<16, 8, 2, 4, 4, 4, 16, Producer::pad_a, Producer::pad_b, true>,
      Producer>();
}

}  // namespace fathom::gemm::fp32
