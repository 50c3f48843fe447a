#include "gemm/bench/autotune.h"

#include <fmt/format.h>

#include "gemm/bench/fastest_way.h"
#include "harness/cuda_check.h"
#include "results/error.h"

namespace fathom::gemm {

bool clearly_faster(double seconds, double default_seconds) {
  constexpr double worth_it = 0.005;
  return seconds < (1 - worth_it) * default_seconds;
}

std::size_t autotune(Context& context, const Rung& rung, const std::vector<RungPlan>& variants,
                     const Operands& operands, const Workspace& workspace) {
  const auto launch = [&](std::size_t i) {
    variants[i].launch(operands.arguments(), workspace, context.stream());
  };
  const auto is_right = [&](std::size_t i) {
    operands.reset_c();
    launch(i);
    FATHOM_CUDA(cudaStreamSynchronize(context.stream()));
    Accuracy accuracy;
    if (const auto wrong = operands.verify(accuracy))
      throw Error(ExitCode::check_failed,
                  fmt::format("{} as {}: {}", rung.id(), variants[i].name, *wrong));
    return true;
  };
  const auto found =
      find_fastest(context, variants.size(), is_right, launch, [&] { launch(0); }).value();
  return clearly_faster(found.seconds, found.default_seconds) ? found.index : 0;
}

}  // namespace fathom::gemm
