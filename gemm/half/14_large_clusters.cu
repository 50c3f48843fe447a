// Clusters of eight, and small ones beside them.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm::half {
namespace {

struct Large {
  static constexpr KernelConfig config{.n = 256,
                                       .stages = 4,
                                       .cluster_m = 4,
                                       .cluster_n = 2,
                                       .band = 4,
                                       .persistent = true,
                                       .tma_stores = true,
                                       .has_tail = true};
  static constexpr MajorsTaken majors = plain_layout;
};

}  // namespace

Rung large_clusters(Class of) {
  Rung rung = rung_of_shape<Large>(of, "14_large_clusters");
  rung.idea =
      "Clusters of 4 x 2 blocks share both operands' tiles. Eight do not divide the SMs of a GPC, "
      "so that a second kernel, started while the first runs, has clusters of two for the SMs "
      "that are left; both walk the same tiles in step.";
  rung.gain =
      "A block takes 16 KiB from the L2 for a stage instead of 32: what the card then does not "
      "spend on that traffic it has for its clock, which its power limit sets. No SM stays idle "
      "for it.";
  return rung;
}

}  // namespace fathom::gemm::half
