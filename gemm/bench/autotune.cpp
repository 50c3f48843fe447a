#include "gemm/bench/autotune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "gemm/bench/fastest_way.h"
#include "harness/cuda_check.h"
#include "results/error.h"
#include "results/format.h"

namespace fathom::gemm {

bool clearly_faster(double seconds, double default_seconds) {
  constexpr double worth_it = 0.005;
  return seconds < (1 - worth_it) * default_seconds;
}

TunedChoice autotune(Context& context, const Rung& rung, const std::vector<Variant>& variants,
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
  const bool better = clearly_faster(found.seconds, found.default_seconds);
  return {.rung = rung.id(),
          .product = operands.arguments().problem.describe(),
          .variant = variants[better ? found.index : 0].name,
          .default_variant = variants.front().name,
          .seconds = better ? found.seconds : found.default_seconds,
          .default_seconds = found.default_seconds,
          .tried = static_cast<int>(variants.size())};
}

bool Autotuner::tunes(const Rung& rung) const { return enabled_ || rung.answers("GR10"); }

const TunedChoice* Autotuner::find(const Rung& rung, const Problem& problem) const {
  const auto found = std::ranges::find_if(choices_, [&](const TunedChoice& c) {
    return c.rung == rung.id() && c.product == problem.describe();
  });
  return found == choices_.end() ? nullptr : &*found;
}

std::vector<std::string> Autotuner::notes() const {
  if (!enabled_) return {};
  std::vector<std::string> listed;
  if (choices_.empty()) {
    // Variants depend on the number of SMs, but not whether there are any.
    constexpr int any_sms = 132;
    for (const Rung& rung : all_rungs()) {
      if (!variants_of(rung, make_problem(rung.of, 4096, 4096, 4096), any_sms).empty())
        listed.push_back(rung.id());
    }
    return {
        fmt::format("Nothing was tuned: no rung that was measured has variants of its product. At "
                    "m = n = k = 4096 there are some of {}.",
                    fmt::join(listed, ", "))};
  }
  for (const TunedChoice& c : choices_) {
    listed.push_back(fmt::format("{} on {}: {}, {} against {} by the default of {} ({} variants)",
                                 c.rung, c.product, c.variant, format_time(c.seconds),
                                 format_time(c.default_seconds), c.default_variant, c.tried));
  }
  return {fmt::format("Autotuning chose: {}.", fmt::join(listed, "; "))};
}

}  // namespace fathom::gemm
