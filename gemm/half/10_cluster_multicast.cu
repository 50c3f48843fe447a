// Two blocks one below the other share what both need.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm::half {
namespace {

struct Multicast {
  static constexpr KernelConfig config{
      .n = 256, .stages = 4, .cluster_m = 2, .band = 8, .persistent = true};
  static constexpr MajorsTaken majors = plain_layout;
};

}  // namespace

Rung cluster_multicast(Class of) {
  Rung rung = rung_of_shape<Multicast>(of, "10_cluster_multicast");
  rung.idea =
      "Clusters of two blocks: each loads half of the tile of B that both multiply with, and the "
      "TMA writes it to both.";
  rung.gain =
      "A block takes 32 KiB from the L2 for a stage of 1024 clocks instead of 48 KiB: a third of "
      "that traffic goes, and its joules.";
  return rung;
}

}  // namespace fathom::gemm::half
