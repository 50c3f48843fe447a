// No copy for an operand that lies across: it goes to the products through registers.

#include "gemm/best/contenders.h"
#include "gemm/best/tf32/register_rung.cuh"
#include "gemm/blocks/tma_shapes.cuh"

namespace fathom::gemm::tf32 {
namespace {

struct Across {
  static constexpr MajorsTaken majors{Major::outer, Major::k};
  static constexpr RegisterKernelConfig config{
      .columns = 256, .stages = 4, .cluster_m = 2, .band = 8, .persistent = true};
};

RungPlan plan(const Problem& p, int) {
  if (is_skinny(p) || none_lies_across(p)) return plan_of(p, AlongK::majors, &launch_along_k);
  return across_plan<Across>(p);
}

}  // namespace

Rung a_in_registers() {
  Rung rung = hopper_rung(Class::tf32, "02_a_in_registers");
  rung.kernel = register_kernel<Across>();
  rung.idea =
      "Of two operands one may lie across k: threads read its tile from shared memory, 32 lanes "
      "from 32 banks, and wgmma takes it from their registers.";
  rung.gain =
      "BLAS's NN and TT need no transposed copy: at 4096 cubed that reads and writes 134 MB, 28 "
      "us of an H200's memory bus before the 257 us that the tensor cores need. Loads from shared "
      "memory run under the products of the stage before.";
  follow_plan<plan>(rung);
  return rung;
}

}  // namespace fathom::gemm::tf32
