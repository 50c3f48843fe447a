// fp32 accuracy from the tensor cores: three products of tf32 for one.

#include "gemm/contenders.h"
#include "gemm/fp32_3xtf32/split_rung.cuh"

namespace fathom::gemm::fp32_3xtf32 {
namespace {

struct Promoted {
  static constexpr MajorsTaken majors{std::nullopt, Major::k};
  static constexpr RegisterKernelConfig config{.columns = 128,
                                               .stages = 4,
                                               .cluster_m = 2,
                                               .band = 8,
                                               .persistent = true,
                                               .three_products = true};
};

}  // namespace

Rung promoted() {
  Rung rung = split_rung<Promoted>("01_promoted");
  rung.idea =
      "Each operand is the sum of two tf32 numbers; of the four products of their parts, three "
      "are added, small ones first. The first operand is split by threads on its way through "
      "registers, the second into two planes before the product. Sums of 32 of k are the tensor "
      "cores', which cut off; the threads add those, in fp32.";
  rung.gain =
      "The tensor cores multiply tf32 at 8 times the rate of the FMA units, so that three "
      "products leave 2.7 times the rate of fp32, at its accuracy.";
  return rung;
}

}  // namespace fathom::gemm::fp32_3xtf32
