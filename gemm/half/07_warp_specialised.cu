// One warp does nothing but ask TMA for tiles; two warpgroups do nothing but multiply.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm::half {
namespace {

struct Specialised {
  static constexpr KernelConfig config{.n = 128, .stages = 6, .band = 1};
  static constexpr MajorsTaken majors = plain_layout;
};

}  // namespace

Rung warp_specialised(Class of) {
  Rung rung = rung_of_shape<Specialised>(of, "07_warp_specialised");
  rung.idea =
      "A warp of its own issues the loads, and gives most of its registers to two warpgroups that "
      "multiply (setmaxnreg); full and empty barriers are all that they share.";
  rung.gain =
      "No warpgroup stops multiplying to issue a load or to wait for the slowest warp's release: "
      "of a tile's 64 stages of 512 clocks at k = 4096 the tensor cores wait for the first alone, "
      "and for the epilogue.";
  return rung;
}

}  // namespace fathom::gemm::half
