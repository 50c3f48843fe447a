// Blocks that stay, in pairs that share what both need.

#include "gemm/fp64/rungs.h"
#include "gemm/fp64/tma_rung.cuh"

namespace fathom::gemm::fp64 {
namespace {

struct PairedBlocks {
  static constexpr KernelConfig config{.cluster_n = 2};
};

}  // namespace

Rung cluster_multicast() {
  Rung rung = shape_rung<PairedBlocks>("06_cluster_multicast");
  rung.idea =
      "One block an SM goes from tile to tile, in bands of 8 tile rows; of two blocks side by "
      "side each loads half of A's tile for both.";
  rung.gain =
      "The ring fills with the next tile while the last one is stored, and a block takes 12 bytes "
      "a clock from the L2 instead of 16: fewer joules, where the power limit holds the clock "
      "down.";
  return rung;
}

}  // namespace fathom::gemm::fp64
