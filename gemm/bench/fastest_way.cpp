#include "gemm/bench/fastest_way.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gemm/bench/shapes.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "harness/timing.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

constexpr TimingPolicy heats{.target_relative_half_width = 0.01,
                             .min_samples = 4,
                             .max_samples = 24,
                             .time_limit_s = 0.15,
                             .rest = rest_of_bursts};
constexpr TimingPolicy final_run{.target_relative_half_width = 0.001,
                                 .min_samples = 6,
                                 .max_samples = 60,
                                 .time_limit_s = 0.3,
                                 .rest = rest_of_bursts};
/// How many take part in either: what bounds the time, of the dozens that there may be.
constexpr std::size_t in_heats = 8, in_final = 4;

/// Seconds of single launches, two of each way that works: enough to leave out what takes half as
/// long again.
std::vector<std::vector<double>> screened(std::size_t ways,
                                          const std::function<bool(std::size_t)>& works,
                                          const std::function<void(std::size_t)>& launch,
                                          cudaStream_t stream) {
  std::vector<std::vector<double>> seconds(ways);
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
      seconds[i].push_back(milliseconds * 1e-3);
    }
  }
  return seconds;
}

}  // namespace

std::optional<FastestWay> find_fastest(Context& context, std::size_t ways,
                                       const std::function<bool(std::size_t)>& works,
                                       const std::function<void(std::size_t)>& launch,
                                       const std::function<void()>& by_default) {
  std::vector<std::vector<double>> seconds = screened(ways, works, launch, context.stream());
  std::vector<Workload> workloads(ways);
  for (std::size_t i = 0; i < ways; ++i) workloads[i].launch = [&launch, i] { launch(i); };
  Workload default_workload;
  default_workload.launch = by_default;

  Sampler sampler(context.device(), context.stream());
  // Times these anew, the last of all by default if that is asked for; whose seconds are returned.
  const auto meet = [&](const std::vector<std::size_t>& these, const TimingPolicy& policy,
                        bool with_default) {
    std::vector<Workload> met;
    for (const std::size_t i : these) met.push_back(workloads[i]);
    if (with_default) met.push_back(default_workload);
    const Samples samples = sampler.sample(met, CacheState::hot, policy);
    seconds.assign(ways, {});
    for (std::size_t place = 0; place < these.size(); ++place)
      seconds[these[place]] = samples.of_workload[place];
    return with_default ? median(samples.of_workload.back()) : 0;
  };

  const std::vector<std::size_t> able = finalists(seconds);
  if (able.empty()) return std::nullopt;
  if (able.size() == 1 && !by_default) return FastestWay{able.front()};
  for (std::size_t i = 0; i < ways; ++i) {
    if (std::ranges::find(able, i) == able.end()) seconds[i].clear();
  }
  if (able.size() > 1) meet(fastest_few(seconds, in_heats), heats, false);
  if (by_default) by_default();  // before it is sampled: its first launch loads the kernel
  const double default_s = meet(fastest_few(seconds, in_final), final_run, bool(by_default));
  const std::size_t best = fastest_few(seconds, 1).front();
  return FastestWay{best, median(seconds[best]), default_s};
}

std::vector<std::size_t> finalists(std::span<const std::vector<double>> seconds_of_way) {
  constexpr double within = 1.5, launch_s = 3e-6;
  std::optional<double> least;
  for (const std::vector<double>& seconds : seconds_of_way) {
    if (!seconds.empty())
      least = std::min(least.value_or(seconds.front()), *std::ranges::min_element(seconds));
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < seconds_of_way.size(); ++i) {
    const std::vector<double>& seconds = seconds_of_way[i];
    if (!seconds.empty() && *std::ranges::min_element(seconds) <= within * *least + launch_s)
      found.push_back(i);
  }
  return found;
}

std::vector<std::size_t> fastest_few(std::span<const std::vector<double>> seconds_of_way,
                                     std::size_t most) {
  std::vector<std::pair<double, std::size_t>> by_time;
  for (std::size_t i = 0; i < seconds_of_way.size(); ++i) {
    if (!seconds_of_way[i].empty()) by_time.emplace_back(median(seconds_of_way[i]), i);
  }
  std::ranges::sort(by_time);
  if (by_time.size() > most) by_time.resize(most);
  std::vector<std::size_t> found;
  for (const auto& [seconds, index] : by_time) found.push_back(index);
  std::ranges::sort(found);
  return found;
}

bool clearly_faster(double seconds, double default_seconds) {
  constexpr double worth_it = 0.005;
  return seconds < (1 - worth_it) * default_seconds;
}

std::string slower_than_default(double chosen_s, double default_s) {
  constexpr double surely = 1.02;
  if (default_s == 0 || !(chosen_s > surely * default_s)) return "";
  return fmt::format("; when it was chosen it took {:.1f} % longer than the library's default",
                     100 * (chosen_s / default_s - 1));
}

}  // namespace fathom::gemm
