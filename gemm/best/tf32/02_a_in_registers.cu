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

void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const Problem& p = arguments.problem;
  if (is_skinny(p) || none_lies_across(p)) return launch_along_k(arguments, workspace, stream);
  if (launch_without_product(arguments, stream)) return;
  launch_across<Across>(arguments, workspace, stream);
}

std::size_t copies_of(const Problem& p) {
  const bool along = is_skinny(p) || none_lies_across(p);
  return TmaOperands::copy_bytes(p, along ? AlongK::majors : register_layout(a_first(p)));
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
  rung.launch = &launch;
  rung.kernel_for = [](const Problem& p, int) {
    return is_skinny(p) || none_lies_across(p) ? RungKernel{}
                                               : register_kernel_for<Across>(a_first(p));
  };
  rung.takes_own_path = [](const Problem& p) { return copies_of(p) == 0; };
  rung.workspace_bytes = [](const Problem& p, int) { return copies_of(p); };
  return rung;
}

}  // namespace fathom::gemm::tf32
