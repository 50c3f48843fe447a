// The tile's results leave while the next tile is multiplied.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm::half {
namespace {

struct Overlapped {
  static constexpr KernelConfig config{
      .n = 256, .stages = 4, .cluster_m = 2, .band = 8, .persistent = true, .tma_stores = true};
  static constexpr MajorsTaken majors = plain_layout;
};

}  // namespace

Rung overlapped_epilogue(Class of) {
  Rung rung = rung_of_shape<Overlapped>(of, "11_overlapped_epilogue");
  rung.idea =
      "Sums go to shared memory by stmatrix, 16 rows by 64 columns at a time, and TMA stores them "
      "while the warp goes on to the next tile.";
  rung.gain =
      "Whole lines of C instead of pieces of 16 bytes a row, and no warpgroup waits for its "
      "stores: the epilogue of a tile shrinks to the conversion.";
  return rung;
}

}  // namespace fathom::gemm::half
