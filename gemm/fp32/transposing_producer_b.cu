#include "gemm/fp32/warp_specialised_launch.cuh"

namespace fathom::gemm::fp32 {

WarpSpecialisedChoice transposing_producer_b() {
  using Producer = TransposingProducer<false, true>;
  return warp_specialised_choice<
      WarpSpecialisedTile<16, 8, 2, 4, 4, 4, 8, Producer::pad_a, Producer::pad_b, true>,
      Producer>();
}

}  // namespace fathom::gemm::fp32
