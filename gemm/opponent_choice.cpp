#include <algorithm>

#include "gemm/opponents.h"
#include "results/statistics.h"

namespace fathom::gemm {

std::vector<std::size_t> finalists(std::span<const std::vector<double>> seconds_of_algorithm) {
  constexpr double within = 1.2, launch_s = 3e-6;
  std::optional<double> least;
  for (const std::vector<double>& seconds : seconds_of_algorithm) {
    if (!seconds.empty())
      least = std::min(least.value_or(seconds.front()), *std::ranges::min_element(seconds));
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < seconds_of_algorithm.size(); ++i) {
    const std::vector<double>& seconds = seconds_of_algorithm[i];
    if (!seconds.empty() && *std::ranges::min_element(seconds) <= within * *least + launch_s)
      found.push_back(i);
  }
  return found;
}

std::optional<std::size_t> fastest(std::span<const std::vector<double>> seconds_of_algorithm) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < seconds_of_algorithm.size(); ++i) {
    if (seconds_of_algorithm[i].empty()) continue;
    const double seconds = median(seconds_of_algorithm[i]);
    if (best && seconds >= least) continue;
    best = i;
    least = seconds;
  }
  return best;
}

}  // namespace fathom::gemm
