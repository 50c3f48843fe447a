#include "gate/rank_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "gate/decision.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// How often each value of the rank test's U comes about without ties, as a share: the coefficients
/// of Gauss' binomial, a product of (1 - x^(many + i)) / (1 - x^i). Their sum may be beyond what a
/// double holds.
std::vector<double> distribution_of_u(std::size_t base, std::size_t head) {
  const auto [few, many] = std::minmax(base, head);
  std::vector<long double> ways(few * many + 1, 0);
  ways[0] = 1;
  for (std::size_t i = 1; i <= few; ++i) {
    for (std::size_t u = ways.size(); u-- > many + i;) ways[u] -= ways[u - many - i];
    for (std::size_t u = i; u < ways.size(); ++u) ways[u] += ways[u - i];
  }
  const long double all = std::accumulate(ways.begin(), ways.end(), 0.0L);
  std::vector<double> shares;
  for (const long double count : ways) shares.push_back(static_cast<double>(count / all));
  return shares;
}

}  // namespace

double rank_test_greater(std::span<const double> base, std::span<const double> head) {
  std::vector<double> pooled(base.begin(), base.end());
  pooled.insert(pooled.end(), head.begin(), head.end());
  std::vector<double> sorted = pooled;
  std::ranges::sort(sorted);
  std::vector<std::size_t> ranks;  // doubled, so that the mean rank of a tie is a whole number
  for (const double value : pooled) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<std::size_t>(first - sorted.begin()) +
                    static_cast<std::size_t>(last - sorted.begin()) + 1);
  }
  const auto of_head = std::span(ranks).subspan(base.size());
  const std::size_t most = pooled.size() * (pooled.size() + 1);
  const std::size_t observed = std::accumulate(of_head.begin(), of_head.end(), std::size_t{0});
  // ways[k][s]: choices of k ranks with sum s.
  std::vector<std::vector<double>> ways(head.size() + 1, std::vector<double>(most + 1, 0));
  ways[0][0] = 1;
  for (const std::size_t rank : ranks)
    for (std::size_t k = head.size(); k-- > 0;)
      for (std::size_t sum = most - rank + 1; sum-- > 0;) ways[k + 1][sum + rank] += ways[k][sum];
  const std::vector<double>& counts = ways.back();
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  double p = 0;
  for (std::size_t sum = counts.size(); sum-- > observed;) p += counts[sum] / all;
  return std::min(1.0, p);
}

double smallest_rank_p(std::size_t base, std::size_t head) {
  double p = 1;
  for (std::size_t i = 1; i <= head; ++i)
    p *= static_cast<double>(i) / static_cast<double>(base + i);
  return p;
}

Shift shift_of(std::span<const double> base, std::span<const double> head) {
  std::vector<double> differences;
  differences.reserve(base.size() * head.size());
  for (const double theirs : base)
    for (const double ours : head) differences.push_back(ours - theirs);
  std::ranges::sort(differences);
  // From the k-th smallest to the k-th largest, of which U is below k on each side as often as the
  // shift is outside.
  const std::vector<double> shares = distribution_of_u(base.size(), head.size());
  std::size_t k = 0;
  double below = 0, covered = 0;
  while (k < differences.size() / 2) {
    const double next = below + shares[k];
    if (k > 0 && 1 - 2 * next < interval_confidence) break;
    below = next;
    covered = std::max(0.0, 1 - 2 * below);
    ++k;
  }
  k = std::max<std::size_t>(k, 1);
  const std::size_t last = differences.size() - k;
  return {median(differences),
          {differences[k - 1], differences[last], covered,
           fmt::format("Hodges-Lehmann, differences {} and {} of {}", k, last + 1,
                       differences.size())}};
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(order.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double others = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, p_values[order[i]] * others));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace fathom::gate
