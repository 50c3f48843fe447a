#include "gemm/opponents.h"
#include "results/statistics.h"

namespace fathom::gemm {

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
