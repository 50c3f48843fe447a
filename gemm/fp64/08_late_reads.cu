// The order of reads and products is the source's, not the compiler's.

#include "gemm/fp64/plan.cuh"
#include "gemm/fp64/rungs.h"

namespace fathom::gemm::fp64 {
namespace {

struct LateReads {
  static constexpr KernelConfig config = [] {
    KernelConfig config = tiles_config;
    config.late_reads = true;
    return config;
  }();
};

}  // namespace

Rung late_reads() {
  Rung rung = planned_rung<LateReads>("08_late_reads");
  rung.idea =
      "Fragments are read into registers that a product took at least one product ago, in an "
      "order that the compiler cannot change; few rows are the rung before's.";
  rung.gain =
      "A read into registers that the last product still takes waits for it, and the next product "
      "waits behind the read.";
  rung.contender = true;
  return rung;
}

}  // namespace fathom::gemm::fp64
