#include "gemm/fp32/small_choice.h"

namespace fathom::gemm::fp32 {

std::optional<SmallPlan> small_choice(const Problem& p, int sms) {
  // The rung before took 70 and 162 us of 1024 and 1536 cubed, and of less no less than 48. That
  // was before rung 25 cut shares within stages where two SMs and more share a tile, as they do at
  // 1024 cubed and below.
  constexpr double us_before = 30, flops_a_us_and_sm_before = 55e6 / planned_sms;
  const auto plan = plan_small(p, small_tiles, sms);
  const double before = us_before + p.flops() / (flops_a_us_and_sm_before * sms);
  return plan && plan->us < surely_sooner * before ? plan : std::nullopt;
}

}  // namespace fathom::gemm::fp32
