#include "gemm/fp64/small_choice.h"

#include "gemm/engine_operands.h"

namespace fathom::gemm::fp64 {

std::optional<SmallPlan> small_choice(const Problem& p, int sms) {
  // By what rung 07 takes, 29, 47 and 130 us of 768, 1024 and 1536 cubed, and of less no less than
  // 20: the rung before is 08, whose time of 1024 cubed is the same (48 us each in
  // recordings/h200/gemm) and whose others were not taken.
  constexpr double us_before = 14, flops_a_us_and_sm_before = 62e6 / planned_sms;
  if (EngineOperands::copy_bytes(p, MajorsTaken{}) != 0) return std::nullopt;
  const auto plan = plan_small(p, small_tiles, sms);
  const double before = us_before + p.flops() / (flops_a_us_and_sm_before * sms);
  return plan && plan->us < surely_sooner * before ? plan : std::nullopt;
}

}  // namespace fathom::gemm::fp64
