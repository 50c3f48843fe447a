#pragma once

#include "gemm/bench/rung.h"

namespace fathom::gemm {

/// What a contender does with a product on a GPU of so many SMs. It is decided once: the launch,
/// the workspace and the report read the plan.
struct RungPlan {
  void (*launch)(const Arguments&, const Workspace&, cudaStream_t) = nullptr;
  std::size_t workspace_bytes = 0;
  RungKernel kernel{};   ///< without a function: what multiplies has no such tile
  bool own_path = true;  ///< operands are multiplied as they lie; the same on every GPU
};

template <RungPlan (*plan)(const Problem&, int sms)>
void follow_plan(Rung& rung) {
  rung.launch = [](const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
    plan(arguments.problem, workspace.sms).launch(arguments, workspace, stream);
  };
  rung.workspace_bytes = [](const Problem& p, int sms) { return plan(p, sms).workspace_bytes; };
  rung.kernel_for = [](const Problem& p, int sms) { return plan(p, sms).kernel; };
  rung.takes_own_path = [](const Problem& p) { return plan(p, 1).own_path; };
}

}  // namespace fathom::gemm
