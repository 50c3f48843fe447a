// A tile twice as wide for the same two warpgroups.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm::half {
namespace {

struct Wide {
  static constexpr KernelConfig config{.n = 256, .stages = 4, .band = 1};
  static constexpr MajorsTaken majors = plain_layout;
};

}  // namespace

Rung wide_tile(Class of) {
  Rung rung = rung_of_shape<Wide>(of, "08_wide_tile");
  rung.idea =
      "A tile of 128 x 256: each warpgroup multiplies 64 x 256 at once, with all of its registers.";
  rung.gain =
      "Each element of the tiles is used for 85 multiplications instead of 64, so that a quarter "
      "of the traffic from the L2 goes, and the products read 80 bytes of shared memory a clock "
      "instead of 96.";
  return rung;
}

}  // namespace fathom::gemm::half
