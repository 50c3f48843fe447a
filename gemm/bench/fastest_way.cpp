#include "gemm/bench/fastest_way.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gemm/bench/shapes.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "harness/timing.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

constexpr TimingPolicy final_run{.target_relative_half_width = 0.001,
                                 .min_samples = 6,
                                 .max_samples = 60,
                                 .time_limit_s = 0.4,
                                 .rest = rest_of_bursts};

/// The lower of two single launches of each way that works: leaves out what is far slower.
std::vector<double> screened(std::size_t ways, const std::function<bool(std::size_t)>& works,
                             const std::function<void(std::size_t)>& launch, cudaStream_t stream) {
  std::vector<double> seconds(ways, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> working;
  for (std::size_t i = 0; i < ways; ++i) {  // the first launch loads the kernel
    if (works(i)) working.push_back(i);
  }
  FATHOM_CUDA(cudaStreamSynchronize(stream));
  const Event start = make_event(), end = make_event();
  constexpr int rounds = 2;
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t i : working) {
      FATHOM_CUDA(cudaEventRecord(start.get(), stream));
      launch(i);
      FATHOM_CUDA(cudaEventRecord(end.get(), stream));
      FATHOM_CUDA(cudaEventSynchronize(end.get()));
      float milliseconds = 0;
      FATHOM_CUDA(cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
      seconds[i] = std::min(seconds[i], milliseconds * 1e-3);
    }
  }
  return seconds;
}

}  // namespace

std::optional<std::size_t> find_fastest(Context& context, std::size_t ways,
                                        const std::function<bool(std::size_t)>& works,
                                        const std::function<void(std::size_t)>& launch) {
  const std::vector<std::size_t> few = finalists(screened(ways, works, launch, context.stream()));
  if (few.empty()) return std::nullopt;
  if (few.size() == 1) return few.front();
  std::vector<Workload> workloads(few.size());
  for (std::size_t i = 0; i < few.size(); ++i)
    workloads[i].launch = [&launch, way = few[i]] { launch(way); };
  Sampler sampler(context.device(), context.stream());
  const Samples samples = sampler.sample(workloads, CacheState::hot, final_run);
  const auto fastest = std::ranges::min_element(
      samples.of_workload, {}, [](const std::vector<double>& seconds) { return median(seconds); });
  return few[static_cast<std::size_t>(fastest - samples.of_workload.begin())];
}

std::vector<std::size_t> finalists(std::span<const double> lowest_seconds) {
  constexpr double within = 1.5, launch_s = 3e-6;
  constexpr std::size_t most = 8;
  std::vector<std::size_t> found;
  if (lowest_seconds.empty()) return found;
  const double limit = within * std::ranges::min(lowest_seconds) + launch_s;
  for (std::size_t i = 0; i < lowest_seconds.size(); ++i) {
    if (std::isfinite(lowest_seconds[i]) && lowest_seconds[i] <= limit) found.push_back(i);
  }
  std::ranges::stable_sort(found, {}, [&](std::size_t i) { return lowest_seconds[i]; });
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace fathom::gemm
