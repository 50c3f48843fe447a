// No copy for an operand that lies across: it goes to the products through registers.

#include "gemm/blocks/engine_shapes.cuh"
#include "gemm/tf32/rungs.h"
#include "gemm/tf32/types.h"

namespace fathom::gemm::tf32 {
namespace {

struct AcrossK {
  static constexpr MajorsTaken majors{Major::outer, Major::k};
};
struct Across : AcrossK {
  static constexpr Design design{
      .n = 256, .stages = 4, .cluster_m = 2, .band = 8, .persistent = true, .a_in_registers = true};
};

/// Whether the kernel's first operand, which lies across k, is BLAS's A rather than its B.
bool a_lies_across(const Problem& p) { return p.transa == Transpose::no; }

/// Both operands along k: nothing lies across, and the rung before is the better one.
bool none_lies_across(const Problem& p) {
  return p.transa == Transpose::yes && p.transb == Transpose::no;
}

/// What `prepared` is asked for, in row-major terms: there BLAS's A is the second operand.
MajorsTaken layout(const Problem& p) {
  return a_lies_across(p) ? MajorsTaken{Major::k, Major::outer}
                          : MajorsTaken{Major::outer, Major::k};
}

void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const Problem& p = arguments.problem;
  if (is_skinny(p) || none_lies_across(p)) return launch_wgmma(arguments, workspace, stream);
  if (launch_without_product(arguments, stream)) return;
  const EngineOperands operands =
      EngineOperands::prepared(arguments, layout(p), workspace.data, stream);
  launch_engine_product<Across, Types>(arguments, operands, a_lies_across(p), stream);
}

}  // namespace

Rung a_in_registers() {
  Rung rung = shape_rung<Across, Types>(Class::tf32, "02_a_in_registers");
  rung.idea =
      "Of two operands one may lie across k: threads read its tile from shared memory, 32 lanes "
      "from 32 banks, "
      "and wgmma takes it from their registers.";
  rung.gain =
      "BLAS's NN and TT need no transposed copy, which reads and writes a whole matrix before the "
      "product; loads from shared "
      "memory run under the products of the stage before.";
  rung.contender = true;
  rung.launch = &launch;
  const auto copies = [](const Problem& p) {
    const bool along = is_skinny(p) || none_lies_across(p);
    return EngineOperands::copy_bytes(p, along ? AlongK::majors : layout(p));
  };
  rung.takes_own_path = [copies](const Problem& p) { return copies(p) == 0; };
  rung.workspace_bytes = [copies](const Problem& p, int) { return copies(p); };
  return rung;
}

}  // namespace fathom::gemm::tf32
