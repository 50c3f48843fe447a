#include "gate/run_ranks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "gate/rank_statistics.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

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

/// All groups of `size` of the runs but the last, which is the head. More than a thousand are drawn
/// by lot, of which the head is one, so that the level stays.
std::vector<Group> groups_of(std::size_t runs, std::size_t size) {
  constexpr std::size_t most = 1000;
  std::vector<Group> groups;
  if (1 / smallest_rank_p(runs - size, size) <= static_cast<double>(most) + 0.5) {
    std::vector<bool> chosen(runs);
    std::fill_n(chosen.begin(), size, true);
    do {
      Group& group = groups.emplace_back();
      for (std::size_t run = 0; run < runs; ++run)
        if (chosen[run]) group.push_back(run);
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
    groups.pop_back();  // the head
    return groups;
  }
  std::mt19937_64 generator(1);
  Group all(runs);
  std::iota(all.begin(), all.end(), 0);
  while (groups.size() + 1 < most) {
    for (std::size_t i = 0; i < size; ++i) std::swap(all[i], all[i + generator() % (runs - i)]);
    groups.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return groups;
}

double standard_deviation(double sum, double squares, std::size_t count) {
  const double n = static_cast<double>(count);
  return std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1));
}

/// One metric's runs, sorted once for all groups.
struct Sorted {
  explicit Sorted(const RunValues& metric) : worse(metric.worse) {
    for (std::size_t run = 0; run < worse.size(); ++run) {
      if (std::isnan(worse[run])) continue;
      order.push_back(run);
      sum += worse[run];
      squares += worse[run] * worse[run];
    }
    std::ranges::sort(order, {}, [&](std::size_t run) { return worse[run]; });
    spread = standard_deviation(sum, squares, order.size());
  }

  std::span<const double> worse;
  std::vector<std::size_t> order;
  double sum = 0, squares = 0, spread = 0;
  double floor = 0;  ///< what a spread of some of the runs is at least
};

/// A quantile, between neighbours, and the spread of the runs that are not in the group.
std::pair<double, double> others_than(const Group& group, const Sorted& metric, double p) {
  const std::size_t count = metric.order.size() - group.size();
  double sum = metric.sum, squares = metric.squares;
  for (const std::size_t run : group) {
    sum -= metric.worse[run];
    squares -= metric.worse[run] * metric.worse[run];
  }
  const double position = p * static_cast<double>(count - 1);
  double below = 0, above = 0;
  std::size_t seen = 0;
  for (const std::size_t run : metric.order) {
    if (std::ranges::find(group, run) != group.end()) continue;
    above = metric.worse[run];
    if (static_cast<double>(seen) <= position) below = above;
    if (static_cast<double>(seen++) >= position) break;
  }
  return {std::lerp(below, above, position - std::floor(position)),
          std::max(metric.floor, standard_deviation(sum, squares, count))};
}

/// How many spreads the group's best run is worse than the line. In a group of four or more, one
/// run may be off, so a quarter of the runs is passed over.
double score_of(const Group& group, const Sorted& metric, double spread, const auto& line,
                std::vector<double>& distances) {
  distances.clear();
  for (const std::size_t run : group) distances.push_back(metric.worse[run] - line(run));
  const auto place = distances.begin() + static_cast<std::ptrdiff_t>(group.size() / 4);
  std::ranges::nth_element(distances, place);
  if (spread > 0) return *place / spread;
  return *place > 0 ? infinity : 0;
}

/// Spreads below the floor are taken for it: of a metric's own effect a third, since less noise
/// makes no difference; and this quantile of the metrics' spreads, since a few runs may agree by
/// chance.
std::vector<Sorted> sorted(const std::vector<RunValues>& metrics, double usual_quantile) {
  std::vector<Sorted> all(metrics.begin(), metrics.end());
  std::vector<double> of_relative;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i].relative) of_relative.push_back(all[i].spread);
  const double usual = of_relative.empty() ? 0 : quantile(of_relative, usual_quantile);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const double least = metrics[i].least / 3;
    all[i].floor = metrics[i].relative ? std::max(least, usual) : least > 0 ? least : all[i].spread;
  }
  return all;
}

/// By which factor a run is beyond the farthest of so many others no more often than this, where
/// tails fall as those of Student's t with two degrees of freedom: 1 / (1 + n c^2) of the time.
double beyond(double level, std::size_t runs) {
  return std::max(1.0, std::sqrt(1 / level / static_cast<double>(runs)));
}

/// Compares the head's scores with those of the groups.
void judge(std::vector<RunRank>& ranks, std::vector<double> groups, std::size_t earlier,
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
  for (RunRank& rank : ranks) {
    const auto lower = std::ranges::find_if(groups, [&](double s) { return s < rank.score; });
    rank.p = (static_cast<double>(lower - groups.begin()) + 1) / all;
    rank.suspect = rank.score > suspect;
    rank.sure = sure && rank.score > limit;
    rank.limit += (sure ? std::min(limit, suspect) : suspect) * rank.spread;
  }
}

}  // namespace

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
  CommonFactor factor;
  for (const auto& of_run : by_run) factor.of_runs.push_back(median(of_run));
  const double centre = median(std::span(factor.of_runs).first(earlier));
  for (double& value : factor.of_runs) value -= centre;
  for (RunValues& metric : metrics)
    if (metric.follows)
      for (std::size_t run = 0; run < metric.worse.size(); ++run)
        metric.worse[run] -= factor.of_runs[run];
  const auto before = std::span(factor.of_runs).first(earlier);
  factor.head = median(std::span(factor.of_runs).subspan(earlier));
  const double led = trend_of(before)((earlier + factor.of_runs.size() - 1) / 2);
  const auto [low, high] = std::ranges::minmax(before);
  factor.beyond = std::max(0.0, factor.head - std::max(high, led)) +
                  std::min(0.0, factor.head - std::min(low, led));
  return factor;
}

bool drifts(const RunValues& metric, std::size_t earlier) {
  if (!metric.relative) return false;
  const auto trend = trend_of(std::span(metric.worse).first(earlier));
  return trend(metric.worse.size() - 1) - trend(0) >= metric.least;
}

std::vector<RunRank> rank_runs(const std::vector<RunValues>& metrics, std::size_t earlier,
                               double level) {
  std::vector<RunRank> ranks(metrics.size());
  if (metrics.empty()) return ranks;
  const std::size_t runs = metrics.front().worse.size(), results = runs - earlier;
  const std::vector<Group> groups = groups_of(runs, results);
  // Runs are slow far more often than fast, so even the best of a group is held against the others'
  // third quartile. Where groups cannot decide, against their median, from which `beyond` reckons.
  const bool groups_decide = static_cast<double>(groups.size() + 1) * level >= 1;
  const double reach = groups_decide ? 0.75 : 0.5;
  const std::vector<Sorted> all = sorted(metrics, groups_decide ? 0.5 : 0.25);
  std::vector<double> worst(groups.size(), 0), distances;
  Group head(results);
  std::iota(head.begin(), head.end(), earlier);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const Sorted& metric = all[i];
    const auto is_known = [&](std::size_t run) { return !std::isnan(metric.worse[run]); };
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!std::ranges::all_of(groups[g], is_known)) continue;
      const auto [others, spread] = others_than(groups[g], metric, reach);
      const auto line = [at = others](std::size_t) { return at; };
      worst[g] = std::max(worst[g], score_of(groups[g], metric, spread, line, distances));
    }
    const auto [others, spread] = others_than(head, metric, reach);
    // Where a drift leads by itself is no change: that takes only from the head's own score.
    const auto before = metric.worse.first(earlier);
    const auto trend = trend_of(before);
    std::vector<double> beside;
    for (std::size_t run = 0; run < earlier; ++run) beside.push_back(before[run] - trend(run));
    const double raised = quantile(known(beside), reach);
    const auto line = [&, at = others](std::size_t run) {
      return std::max(at, trend(run) + raised);
    };
    ranks[i].score = score_of(head, metric, spread, line, distances);
    ranks[i].spread = spread;
    ranks[i].limit = std::max(0.0, line(runs - 1) - median(known(metric.worse.first(earlier))));
  }
  judge(ranks, std::move(worst), earlier, results, level);
  return ranks;
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
