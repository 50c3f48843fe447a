#include "probes/two_groups.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace fathom {

TwoGroups two_groups(std::span<const double> latencies) {
  if (latencies.empty()) throw std::invalid_argument("two_groups of no latencies");
  std::vector<double> sorted(latencies.begin(), latencies.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t trim = sorted.size() / 100;
  const std::span<const double> kept(sorted.begin() + trim, sorted.end() - trim);
  const double n = static_cast<double>(kept.size());
  const double mean = std::accumulate(kept.begin(), kept.end(), 0.0) / n;
  double variance = 0;
  for (const double x : kept) variance += (x - mean) * (x - mean) / n;

  TwoGroups best{mean, mean, 0, 0};
  if (variance <= 0) return best;
  double low_sum = 0;
  for (std::size_t i = 0; i + 1 < kept.size(); ++i) {
    low_sum += kept[i];
    if (kept[i] == kept[i + 1]) continue;  // equal latencies stay together
    const double low_n = static_cast<double>(i + 1), high_n = n - low_n;
    const double low = low_sum / low_n, high = (mean * n - low_sum) / high_n;
    const double between = low_n * high_n / (n * n) * (high - low) * (high - low) / variance;
    if (between > best.separation) best = {low, high, high_n / n, between};
  }
  return best;
}

}  // namespace fathom
