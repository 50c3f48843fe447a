// Blocks that stay, and an order of tiles for the L2.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm::half {
namespace {

struct Persistent {
  static constexpr KernelConfig config{.n = 256, .stages = 4, .band = 16, .persistent = true};
  static constexpr MajorsTaken majors = plain_layout;
};

}  // namespace

Rung persistent(Class of) {
  Rung rung = rung_of_shape<Persistent>(of, "09_persistent");
  rung.idea =
      "One block an SM goes from tile to tile, in bands of 16 tile rows: blocks that run at the "
      "same time form nearly a square of C.";
  rung.gain =
      "The ring fills with the next tile while the last one is stored: at 4096 cubed three of an "
      "SM's four tiles begin without a wait. 132 tiles at a time need 4160 rows and columns of "
      "the operands instead of 5152, and at 8192 cubed instead of 8720: less traffic from the L2 "
      "and beyond, fewer joules.";
  return rung;
}

}  // namespace fathom::gemm::half
