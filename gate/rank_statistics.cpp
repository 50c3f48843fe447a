#include "gate/rank_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "gate/decision.h"
#include "results/distributions.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// Ranks of the pooled values, doubled so that the mean rank of a tie is a whole number.
struct Ranks {
  std::vector<std::size_t> doubled;  ///< base first, then head
  double tie_term = 0;               ///< sum of t^3 - t over groups of t equal values
};

Ranks ranks_of(std::span<const double> base, std::span<const double> head) {
  std::vector<double> pooled(base.begin(), base.end());
  pooled.insert(pooled.end(), head.begin(), head.end());
  std::vector<std::size_t> order(pooled.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return pooled[a] < pooled[b]; });
  Ranks ranks{std::vector<std::size_t>(pooled.size()), 0};
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && pooled[order[last + 1]] == pooled[order[first]]) ++last;
    // Ranks first + 1 to last + 1 share their mean.
    for (std::size_t i = first; i <= last; ++i) ranks.doubled[order[i]] = first + last + 2;
    const double tied = static_cast<double>(last - first + 1);
    ranks.tie_term += tied * tied * tied - tied;
    first = last + 1;
  }
  return ranks;
}

/// How often each doubled rank sum comes about, over all choices of `chosen` of the ranks, as a
/// share of them all.
std::vector<double> rank_sum_distribution(const std::vector<std::size_t>& doubled,
                                          std::size_t chosen) {
  const std::size_t most = std::accumulate(doubled.begin(), doubled.end(), std::size_t{0});
  // ways[k][s]: choices of k ranks with sum s. At most 10^29 for a hundred ranks: exact enough.
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1, 0));
  ways[0][0] = 1;
  std::size_t seen = 0, reach = 0;
  for (const std::size_t rank : doubled) {
    ++seen;
    reach += rank;
    for (std::size_t k = std::min(chosen, seen); k-- > 0;)
      for (std::size_t sum = reach - rank + 1; sum-- > 0;) ways[k + 1][sum + rank] += ways[k][sum];
  }
  std::vector<double>& counts = ways[chosen];
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (double& count : counts) count /= all;
  return counts;
}

/// The same of ranks without ties, 1 to `all`, doubled. Thousands of metrics ask for the same one.
const std::vector<double>& untied_distribution(std::size_t all, std::size_t chosen) {
  thread_local std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> known;
  const auto [found, is_new] = known.try_emplace({all, chosen});
  if (is_new) {
    std::vector<std::size_t> doubled(all);
    for (std::size_t i = 0; i < all; ++i) doubled[i] = 2 * (i + 1);
    found->second = rank_sum_distribution(doubled, chosen);
  }
  return found->second;
}

double exact_p(const Ranks& ranks, std::size_t head, std::size_t observed) {
  const bool ties = ranks.tie_term > 0;
  const std::vector<double> of_ties =
      ties ? rank_sum_distribution(ranks.doubled, head) : std::vector<double>{};
  const std::vector<double>& shares =
      ties ? of_ties : untied_distribution(ranks.doubled.size(), head);
  double p = 0;
  for (std::size_t sum = shares.size(); sum-- > observed;) p += shares[sum];
  return std::min(1.0, p);
}

double normal_p(const Ranks& ranks, std::size_t base, std::size_t head, double rank_sum) {
  const double m = static_cast<double>(base), n = static_cast<double>(head), all = m + n;
  const double mean = n * (all + 1) / 2;
  const double variance = m * n / 12 * (all + 1 - ranks.tie_term / (all * (all - 1)));
  if (!(variance > 0)) return 1;  // all equal
  const double z = (rank_sum - mean - 0.5) / std::sqrt(variance);
  return normal_tail(z);
}

/// The largest k for which the interval from the k-th smallest to the k-th largest of the m n
/// differences covers the shift as often as it is to, and what it covers.
std::pair<std::size_t, double> order_of_interval(std::size_t base, std::size_t head) {
  const std::vector<double>& shares = untied_distribution(base + head, std::min(base, head));
  const std::size_t least = std::min(base, head) * (std::min(base, head) + 1);  // doubled rank sum
  // P(U <= k - 1) on each side, U being the rank sum less its least.
  double below = 0;
  std::size_t k = 0;
  double covered = 0;
  while (k < base * head / 2) {
    const double next = below + shares[least + 2 * k];
    if (k > 0 && 1 - 2 * next < interval_confidence) break;
    below = next;
    covered = std::max(0.0, 1 - 2 * below);
    ++k;
  }
  return {std::max<std::size_t>(k, 1), covered};
}

std::pair<std::size_t, double> approximate_order(std::size_t base, std::size_t head) {
  const double m = static_cast<double>(base), n = static_cast<double>(head);
  const double z = normal_quantile((1 + interval_confidence) / 2);
  const double order = m * n / 2 - z * std::sqrt(m * n * (m + n + 1) / 12);
  return {static_cast<std::size_t>(std::max(1.0, std::floor(order))), interval_confidence};
}

}  // namespace

double rank_test_greater(std::span<const double> base, std::span<const double> head) {
  const Ranks ranks = ranks_of(base, head);
  const std::size_t observed =
      std::accumulate(ranks.doubled.begin() + static_cast<std::ptrdiff_t>(base.size()),
                      ranks.doubled.end(), std::size_t{0});
  const std::size_t limit = ranks.tie_term > 0 ? exact_limit_with_ties : exact_limit;
  if (base.size() + head.size() <= limit) return exact_p(ranks, head.size(), observed);
  return normal_p(ranks, base.size(), head.size(), static_cast<double>(observed) / 2);
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
  std::sort(differences.begin(), differences.end());
  const bool exact = base.size() + head.size() <= exact_limit;
  const auto [k, covered] = exact ? order_of_interval(base.size(), head.size())
                                  : approximate_order(base.size(), head.size());
  return {median(differences),
          {differences[k - 1], differences[differences.size() - k], covered,
           exact ? fmt::format("Hodges-Lehmann, differences {} and {} of {}", k,
                               differences.size() - k + 1, differences.size())
                 : "Hodges-Lehmann, normal approximation"}};
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  const std::size_t n = p_values.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(n);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double p = p_values[order[i]];
    largest = std::max(largest, std::min(1.0, p * static_cast<double>(n - i)));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace fathom::gate
