#include "gemm/half/small_choice.h"

#include "gemm/brief_plan.h"
#include "gemm/engine_operands.h"

namespace fathom::gemm::half {
namespace {

/// The least that the rung before took of any cube, of 256, on an H200.
constexpr double least_us_before = 6.25;

}  // namespace

SmallChoice small_choice(const Problem& p, int sms) {
  if (p.flops() == 0 || p.alpha == 0) return {};
  if (EngineOperands::copy_bytes(p, MajorsTaken{}) == 0) {
    const auto plan = plan_small(p, small_tiles, sms);
    const auto brief = brief_plan(p, sms);
    const double otherwise = brief ? brief->us : least_us_before;
    if (plan && plan->us < otherwise) return {.kernel = SmallChoice::Kernel::mma, .plan = *plan};
    if (brief) return {.kernel = SmallChoice::Kernel::brief, .plan = {}, .columns = brief->columns};
  }
  if (waves_of_192_are_sooner(p, sms)) return {.kernel = SmallChoice::Kernel::waves, .plan = {}};
  return {};
}

}  // namespace fathom::gemm::half
