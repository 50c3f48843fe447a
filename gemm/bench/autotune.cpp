#include "gemm/bench/autotune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "gemm/bench/shapes.h"
#include "gemm/bench/variant.h"
#include "harness/cuda_check.h"
#include "harness/timing.h"
#include "results/error.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

/// All variants first, in short; then those that came within this of the fastest, and the default,
/// for longer.
constexpr double finalist = 1.05;
constexpr TimingPolicy heats{.target_relative_half_width = 0.02,
                             .min_samples = 4,
                             .max_samples = 40,
                             .time_limit_s = 0.6,
                             .rest = rest_of_bursts};
constexpr TimingPolicy final_run{.target_relative_half_width = 0.002,
                                 .min_samples = 10,
                                 .max_samples = 200,
                                 .time_limit_s = 1.8,
                                 .rest = rest_of_bursts};

void require_right(const Rung& rung, const Variant& variant, const Operands& operands,
                   const Workload& workload, cudaStream_t stream) {
  operands.reset_c();
  workload.launch();
  FATHOM_CUDA(cudaStreamSynchronize(stream));
  Accuracy accuracy;
  if (const auto wrong = operands.verify(accuracy)) {
    throw Error(ExitCode::check_failed,
                fmt::format("{} as {}: {}", rung.id(), variant.name, *wrong));
  }
}

std::vector<double> medians(Sampler& sampler, const std::vector<const Workload*>& workloads,
                            const TimingPolicy& policy) {
  std::vector<double> seconds;
  for (const auto& samples : sampler.sample(workloads, CacheState::hot, policy).of_workload) {
    seconds.push_back(median(samples));
  }
  return seconds;
}

}  // namespace

std::size_t choose_variant(const std::vector<double>& median_seconds) {
  const auto fastest = std::ranges::min_element(median_seconds);
  return *fastest < (1 - worth_it) * median_seconds.front()
             ? static_cast<std::size_t>(fastest - median_seconds.begin())
             : 0;
}

TunedChoice autotune(Context& context, const Rung& rung, const std::vector<Variant>& variants,
                     const Operands& operands, const Workspace& workspace) {
  std::vector<Workload> workloads(variants.size());
  std::vector<const Workload*> all;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    workloads[i].launch = [&variants, &operands, &workspace, i, stream = context.stream()] {
      variants[i].launch(operands.arguments(), workspace, stream);
    };
    require_right(rung, variants[i], operands, workloads[i], context.stream());
    all.push_back(&workloads[i]);
  }
  Sampler sampler(context.device(), context.stream());
  const std::vector<double> first = medians(sampler, all, heats);
  const double best = *std::ranges::min_element(first);
  std::vector<const Workload*> finalists;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (i > 0 && first[i] > finalist * best) continue;
    finalists.push_back(all[i]);
    indices.push_back(i);
  }
  const std::vector<double> last = medians(sampler, finalists, final_run);
  const std::size_t chosen = choose_variant(last);
  return {.rung = rung.id(),
          .product = operands.arguments().problem.describe(),
          .variant = variants[indices[chosen]].name,
          .default_variant = variants.front().name,
          .seconds = last[chosen],
          .default_seconds = last.front(),
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
