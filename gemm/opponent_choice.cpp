#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gemm/opponents.h"
#include "results/statistics.h"

namespace fathom::gemm {

std::vector<std::size_t> finalists(std::span<const std::vector<double>> seconds_of_algorithm) {
  constexpr double within = 1.5, launch_s = 3e-6;
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

std::vector<std::size_t> fastest_few(std::span<const std::vector<double>> seconds_of_algorithm,
                                     std::size_t most) {
  std::vector<std::pair<double, std::size_t>> by_time;
  for (std::size_t i = 0; i < seconds_of_algorithm.size(); ++i) {
    if (!seconds_of_algorithm[i].empty()) by_time.emplace_back(median(seconds_of_algorithm[i]), i);
  }
  std::ranges::sort(by_time);
  if (by_time.size() > most) by_time.resize(most);
  std::vector<std::size_t> found;
  for (const auto& [seconds, index] : by_time) found.push_back(index);
  std::ranges::sort(found);
  return found;
}

std::string slower_than_default(double chosen_s, double default_s) {
  constexpr double surely = 1.02;
  if (!(chosen_s > surely * default_s)) return "";
  return fmt::format("; when it was chosen it took {:.1f} % longer than the library's default",
                     100 * (chosen_s / default_s - 1));
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
