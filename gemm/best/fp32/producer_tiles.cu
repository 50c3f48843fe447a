#include "gemm/best/fp32/warp_specialised_launch.cuh"

namespace fathom::gemm::fp32 {
namespace {

template <class Producer, int Stages, int Last>
WarpSpecialisedChoice filled_by() {
  return warp_specialised_choice<WarpSpecialisedTile<16, 8, 2, 4, 4, Stages, Last, Producer::pad_a,
                                                     Producer::pad_b, true>,
                                 Producer>();
}

}  // namespace

WarpSpecialisedChoice tma_producer_128x256() { return filled_by<TmaProducer, 4, 8>(); }
WarpSpecialisedChoice thread_producer_128x256() { return filled_by<ThreadProducer, 4, 16>(); }
WarpSpecialisedChoice transposing_producer_a() {
  return filled_by<TransposingProducer<true, false>, 4, 8>();
}
WarpSpecialisedChoice transposing_producer_b() {
  return filled_by<TransposingProducer<false, true>, 4, 8>();
}
/// Both boxes beside the ring leave it room for three stages.
WarpSpecialisedChoice transposing_producer_both() {
  return filled_by<TransposingProducer<true, true>, 3, 8>();
}

}  // namespace fathom::gemm::fp32
