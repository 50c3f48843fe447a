// TMA fills a ring of stages, and warps do nothing but multiply: no fetch stands
// between products any more.

#include "gemm/fp64/rungs.h"
#include "gemm/fp64/tma_rung.cuh"

namespace fathom::gemm::fp64 {
namespace {

struct Tma {
  static constexpr KernelConfig config{.band = 1, .persistent = false};
};

}  // namespace

Rung tma() {
  Rung rung = shape_rung<Tma>("05_tma");
  rung.idea =
      "One thread asks TMA for stages of 16 of k, six ahead; eight warps read fragments, 16 bytes "
      "at a time, from swizzled lines, the next ones while they multiply.";
  rung.gain =
      "Neither loads nor barriers of the block stand between products: 48 bytes of shared memory "
      "a clock feed 128 multiplications, and the tensor cores wait for the first stage and the "
      "last store of a tile only.";
  return rung;
}

}  // namespace fathom::gemm::fp64
