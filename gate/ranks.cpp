#include "gate/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>

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

constexpr double infinity = std::numeric_limits<double>::infinity();

using Group = std::vector<std::size_t>;

std::vector<double> known(std::span<const double> values) {
  std::vector<double> found;
  std::ranges::copy_if(values, std::back_inserter(found), [](double x) { return !std::isnan(x); });
  return found;
}

/// Where a line through the earlier values leads: the median slope of pairs half of them apart.
auto trend_of(std::span<const double> values) {
  const std::size_t apart = (values.size() + 1) / 2;
  std::vector<double> slopes;
  for (std::size_t i = 0; i + apart < values.size(); ++i)
    slopes.push_back((values[i + apart] - values[i]) / static_cast<double>(apart));
  const double slope = median_or_none(known(slopes)).value_or(0);
  std::vector<double> levels;
  for (std::size_t i = 0; i < values.size(); ++i)
    levels.push_back(values[i] - slope * static_cast<double>(i));
  return [slope, level = median(known(levels))](std::size_t run) {
    return level + slope * static_cast<double>(run);
  };
}

/// All groups of `size` of the runs, the head first. Of more than a thousand so many are drawn by
/// lot, of which the head is one, so that the level stays.
std::vector<Group> groups_of(std::size_t runs, std::size_t size) {
  constexpr std::size_t most = 1000;
  std::vector<Group> groups;
  if (1 / smallest_rank_p(runs - size, size) <= static_cast<double>(most) + 0.5) {
    std::vector<bool> chosen(runs);
    std::fill(chosen.end() - static_cast<std::ptrdiff_t>(size), chosen.end(), true);
    do {
      Group& group = groups.emplace_back();
      for (std::size_t run = 0; run < runs; ++run)
        if (chosen[run]) group.push_back(run);
    } while (std::next_permutation(chosen.begin(), chosen.end()));
    return groups;
  }
  std::mt19937_64 generator(1);
  Group all(runs);
  std::iota(all.begin(), all.end(), 0);
  groups.emplace_back(all.end() - static_cast<std::ptrdiff_t>(size), all.end());
  while (groups.size() < most) {
    for (std::size_t i = 0; i < size; ++i) std::swap(all[i], all[i + generator() % (runs - i)]);
    groups.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return groups;
}

double standard_deviation(std::span<const double> values) {
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

/// One metric's runs, sorted once for all groups.
struct Sorted {
  explicit Sorted(const RunValues& metric) : worse(metric.worse) {
    for (std::size_t run = 0; run < worse.size(); ++run)
      if (!std::isnan(worse[run])) order.push_back(run);
    std::ranges::sort(order, {}, [&](std::size_t run) { return worse[run]; });
    spread = standard_deviation(known(worse));
  }

  bool has(const Group& group) const {
    return std::ranges::none_of(group, [&](std::size_t run) { return std::isnan(worse[run]); });
  }

  /// A quantile, between neighbours, and the spread of the runs that are not in the group.
  std::pair<double, double> others_than(const Group& group, double p) const {
    std::vector<double> others;
    others.reserve(order.size());
    for (const std::size_t run : order)
      if (std::ranges::find(group, run) == group.end()) others.push_back(worse[run]);
    const double place = p * static_cast<double>(others.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double above = others[std::min(below + 1, others.size() - 1)];
    return {std::lerp(others[below], above, place - static_cast<double>(below)),
            std::max(floor, standard_deviation(others))};
  }

  /// How many spreads the group's best run is worse than the line. In a group of four or more, one
  /// run may be off, so a quarter of the runs is passed over.
  double score_of(const Group& group, double spread_of_others, const auto& line) const {
    std::vector<double> distances;
    for (const std::size_t run : group) distances.push_back(worse[run] - line(run));
    const auto best = distances.begin() + static_cast<std::ptrdiff_t>(group.size() / 4);
    std::ranges::nth_element(distances, best);
    if (spread_of_others > 0) return *best / spread_of_others;
    return *best > 0 ? infinity : 0;
  }

  std::span<const double> worse;
  std::vector<std::size_t> order;
  double spread = 0;
  double floor = 0;  ///< what a spread of some of the runs is at least
};

/// Spreads below the floor are taken for it: of a metric's own effect a third, since less noise
/// makes no difference; and this quantile of the metrics' spreads, since a few runs may agree by
/// chance.
std::vector<Sorted> sorted(const std::vector<RunValues>& metrics, double usual_quantile) {
  std::vector<Sorted> all(metrics.begin(), metrics.end());
  std::vector<double> of_relative;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i].evidence.relative) of_relative.push_back(all[i].spread);
  const double usual = of_relative.empty() ? 0 : quantile(of_relative, usual_quantile);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const double least = metrics[i].evidence.least / 3;
    if (metrics[i].evidence.relative)
      all[i].floor = std::max(least, usual);
    else
      all[i].floor = least > 0 ? least : all[i].spread;
  }
  return all;
}

/// By which factor a run is beyond the farthest of so many others no more often than this, where
/// tails fall as those of Student's t with two degrees of freedom: 1 / (1 + n c^2) of the time.
double beyond(double level, std::size_t runs) {
  return std::max(1.0, std::sqrt(1 / level / static_cast<double>(runs)));
}

/// Compares the head's scores with those of the other groups.
void judge(std::vector<RunValues>& metrics, std::vector<double> groups, std::size_t earlier,
           std::size_t results, double level) {
  // Suites of which nothing changed that may be called inconclusive, where ranks cannot be sure.
  constexpr double suspects = 0.05;
  // Where to be above all groups is just enough, by so many times: runs are not quite exchangeable.
  constexpr double to_spare = 1.25;
  std::ranges::sort(groups, std::greater<>());
  const double highest = std::max(0.0, groups.front());
  const double all = static_cast<double>(groups.size()) + 1;  // with the head itself
  const auto above = static_cast<std::size_t>(level / 2 * all);
  const double limit = all * level < 1 ? highest * beyond(level / 2, earlier)
                       : above == 0    ? highest * to_spare
                                       : std::max(0.0, groups[above - 1]);
  const double suspect = highest * beyond(suspects, earlier);
  const bool sure = can_be_sure(earlier, results, level);
  for (RunValues& metric : metrics) {
    Evidence& evidence = metric.evidence;
    const auto lower = std::ranges::find_if(groups, [&](double s) { return s < metric.score; });
    evidence.p = (static_cast<double>(lower - groups.begin()) + 1) / all;
    evidence.threshold += (sure ? std::min(limit, suspect) : suspect) * evidence.noise_floor;
    evidence.threshold = std::max(evidence.least, evidence.threshold);
    metric.suspect = metric.score > suspect;
    metric.sure = sure && metric.score > limit;
  }
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

std::optional<CommonFactor> take_out_common_factor(std::vector<RunValues>& metrics,
                                                   std::size_t earlier) {
  std::vector<std::vector<double>> by_run;
  for (const RunValues& metric : metrics) {
    if (!metric.follows || known(metric.worse).size() < metric.worse.size()) continue;
    const double centre = median(std::span(metric.worse).first(earlier));
    by_run.resize(metric.worse.size());
    for (std::size_t run = 0; run < metric.worse.size(); ++run)
      by_run[run].push_back(metric.worse[run] - centre);
  }
  if (by_run.empty() || by_run.front().size() < fewest_for_common_factor) return std::nullopt;
  std::vector<double> of_runs;
  for (const auto& of_run : by_run) of_runs.push_back(median(of_run));
  const double centre = median(std::span(of_runs).first(earlier));
  for (double& value : of_runs) value -= centre;
  for (RunValues& metric : metrics)
    if (metric.follows)
      std::ranges::transform(metric.worse, of_runs, metric.worse.begin(), std::minus<>());
  const auto before = std::span(of_runs).first(earlier);
  const double head = median(std::span(of_runs).subspan(earlier));
  const double led = trend_of(before)((earlier + of_runs.size() - 1) / 2);
  const auto [low, high] = std::ranges::minmax(before);
  return CommonFactor{
      head, std::max(0.0, head - std::max(high, led)) + std::min(0.0, head - std::min(low, led))};
}

bool drifts(const RunValues& metric, std::size_t earlier) {
  if (!metric.evidence.relative) return false;
  const auto trend = trend_of(std::span(metric.worse).first(earlier));
  return trend(metric.worse.size() - 1) - trend(0) >= metric.evidence.least;
}

void rank_runs(std::vector<RunValues>& metrics, std::size_t earlier, double level) {
  if (metrics.empty()) return;
  const std::size_t runs = metrics.front().worse.size(), results = runs - earlier;
  const std::vector<Group> groups = groups_of(runs, results);
  // Runs are slow far more often than fast, so even the best of a group is held against the others'
  // third quartile. Where groups cannot decide, against their median, from which `beyond` reckons.
  const bool groups_decide = static_cast<double>(groups.size()) * level >= 1;
  const double reach = groups_decide ? 0.75 : 0.5;
  const std::vector<Sorted> all = sorted(metrics, groups_decide ? 0.5 : 0.25);
  std::vector<double> worst(groups.size() - 1, 0);  // without the head
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const Sorted& metric = all[i];
    for (std::size_t g = 1; g < groups.size(); ++g) {
      if (!metric.has(groups[g])) continue;
      const auto [others, spread] = metric.others_than(groups[g], reach);
      const auto line = [at = others](std::size_t) { return at; };
      worst[g - 1] = std::max(worst[g - 1], metric.score_of(groups[g], spread, line));
    }
    const auto [others, spread] = metric.others_than(groups.front(), reach);
    // Where a drift leads by itself is no change: that takes only from the head's own score.
    const auto trend = trend_of(metric.worse.first(earlier));
    std::vector<double> beside;
    for (std::size_t run = 0; run < earlier; ++run)
      beside.push_back(metric.worse[run] - trend(run));
    const double raised = quantile(known(beside), reach);
    const auto line = [&, at = others](std::size_t run) {
      return std::max(at, trend(run) + raised);
    };
    const auto before = known(metric.worse.first(earlier));
    const Shift shift = shift_of(before, metric.worse.subspan(earlier));
    Evidence& evidence = metrics[i].evidence;
    evidence.worse_by = shift.estimate;
    evidence.interval = shift.interval;
    evidence.noise_floor = spread;
    evidence.threshold = std::max(0.0, line(runs - 1) - median(before));
    metrics[i].score = metric.score_of(groups.front(), spread, line);
  }
  judge(metrics, std::move(worst), earlier, results, level);
}

bool can_be_sure(std::size_t earlier, std::size_t results, double level) {
  // Against fewer a single result may have met a state that they did not, as rare as it may be, in
  // more than 2 % of suites: 1 / (e (n + 1)) at worst.
  constexpr std::size_t fewest_for_single = 20;
  return (results == 1 && earlier >= fewest_for_single) ||
         smallest_rank_p(earlier, results) <= level;
}

std::size_t results_needed(std::size_t earlier, std::size_t results, double level) {
  do ++results;
  while (smallest_rank_p(earlier, results) > level);
  return results;
}

}  // namespace fathom::gate
