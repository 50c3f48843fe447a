#include "gemm/fp32/warp_specialised_launch.cuh"

namespace fathom::gemm::fp32 {

WarpSpecialisedChoice transposing_producer_both() {
  using Producer = TransposingProducer<true, true>;
  // Both boxes beside the ring leave it room for three stages.
  return warp_specialised_choice<
      WarpSpecialisedTile<16, 8, 2, 4, 4, 3, 8, Producer::pad_a, Producer::pad_b, true>,
      Producer>();
}

}  // namespace fathom::gemm::fp32
