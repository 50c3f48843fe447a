// fp8 with sums that are as good as those of 16-bit types.

#include "gemm/blocks/engine_shapes.cuh"
#include "gemm/fp8/rungs.h"
#include "gemm/fp8/types.h"

namespace fathom::gemm::fp8 {
namespace {

/// Both the tensor cores' sums of a stage and those of all stages are registers: half of the
/// columns.
struct Promoted : AlongK {
  static constexpr Design design{.n = 128,
                                 .stages = 5,
                                 .cluster_m = 2,
                                 .band = 8,
                                 .persistent = true,
                                 .engine_stores = true,
                                 .promoted = true};
};

}  // namespace

Rung promoted() {
  Rung rung = shape_rung<Promoted, Types>(Class::fp8, "01_promoted");
  rung.idea = "The tensor cores add up 128 of k at a time; the threads add these sums in fp32.";
  rung.gain =
      "Sums keep the bits that the tensor cores drop when they accumulate fp8 products over a long "
      "k. It costs: a "
      "tile half as wide, and a warpgroup's additions stand between its products, under the "
      "other's.";
  return rung;
}

}  // namespace fathom::gemm::fp8
