#pragma once

#include <algorithm>
#include <cstdint>

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

/// A contender of compute capability 9.0 alone, as code for wgmma, TMA and clusters is.
template <RungPlan (*plan)(const Problem&, int sms)>
Rung hopper_contender(Class of, const char* name) {
  Rung rung;
  rung.name = name;
  rung.of = of;
  rung.capability = 90;
  rung.exact_capability = true;
  rung.contender = true;
  rung.kernel = plan(make_problem(of, 4096, 4096, 4096), 1).kernel;
  follow_plan<plan>(rung);
  return rung;
}

// Which of the tiles of the kernels whose operands come by TMA (gemm/blocks/tma_shapes.cuh) a
// product is cut into where it fills the GPU with none of them.

/// Most columns of the small side for which the narrow shapes are meant.
inline constexpr std::int64_t most_skinny = 128;

inline bool is_skinny(const Problem& p) { return std::min(p.m, p.n) <= most_skinny; }

/// Whether tiles of 128 x 128, of each of which two blocks share k, are done sooner on so many SMs
/// than tiles of 128 x 256 in clusters of two: estimated in waves of blocks, one an SM, times the
/// clocks of a block. At 1024³ 32 wide tiles leave three of four SMs without work.
bool halves_of_small_tiles_are_sooner(const Problem& problem, int sms);

}  // namespace fathom::gemm
