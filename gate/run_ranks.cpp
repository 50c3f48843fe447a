#include "gate/run_ranks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <span>

#include "gate/rank_statistics.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// More groups than these are drawn by lot, of which the head is one, so that the level stays.
constexpr std::size_t most_groups = 1000;

/// Where a line through the earlier values leads: the median slope of pairs half of them apart.
class Trend {
 public:
  explicit Trend(std::span<const double> values) {
    const std::size_t apart = (values.size() + 1) / 2;
    std::vector<double> slopes, levels;
    for (std::size_t i = 0; i + apart < values.size(); ++i)
      if (!std::isnan(values[i]) && !std::isnan(values[i + apart]))
        slopes.push_back((values[i + apart] - values[i]) / static_cast<double>(apart));
    if (!slopes.empty()) slope_ = median(slopes);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isnan(values[i])) levels.push_back(values[i] - slope_ * static_cast<double>(i));
    level_ = median(levels);
  }
  double at(std::size_t run) const { return level_ + slope_ * static_cast<double>(run); }

 private:
  double slope_ = 0, level_ = 0;
};

using Group = std::vector<std::size_t>;

/// All groups of `size` of the runs but the last, which is the head; or so many of them by lot.
std::vector<Group> groups_of(std::size_t runs, std::size_t size) {
  std::vector<Group> groups;
  if (1 / smallest_rank_p(runs - size, size) <= static_cast<double>(most_groups) + 0.5) {
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
  std::vector<std::size_t> all(runs);
  std::iota(all.begin(), all.end(), 0);
  while (groups.size() + 1 < most_groups) {
    for (std::size_t i = 0; i < size; ++i) std::swap(all[i], all[i + generator() % (runs - i)]);
    groups.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return groups;
}

/// One metric, made ready for all groups.
class Scores {
 public:
  explicit Scores(const RunValues& metric) : worse_(metric.worse) {
    for (std::size_t run = 0; run < worse_.size(); ++run) {
      if (std::isnan(worse_[run])) continue;
      order_.push_back(run);
      sum_ += worse_[run];
      squares_ += worse_[run] * worse_[run];
    }
    std::ranges::sort(order_, {}, [&](std::size_t run) { return worse_[run]; });
  }

  /// The spread of all runs, and what a spread of some of them is at least.
  double spread() const { return standard_deviation(sum_, squares_, order_.size()); }
  double floor = 0;

  /// The median and the spread of the runs that are not in the group.
  struct Others {
    double centre = 0, spread = 0;
  };
  Others others(const Group& group) const {
    const std::size_t count = order_.size() - group.size();
    double sum = sum_, squares = squares_;
    for (const std::size_t run : group) sum -= worse_[run], squares -= worse_[run] * worse_[run];
    double below = 0, above = 0;
    std::size_t seen = 0;
    for (const std::size_t run : order_) {
      if (std::ranges::find(group, run) != group.end()) continue;
      if (seen <= (count - 1) / 2) below = worse_[run];
      above = worse_[run];
      if (seen++ >= count / 2) break;
    }
    return {(below + above) / 2, std::max(floor, standard_deviation(sum, squares, count))};
  }

  bool has(const Group& group) const {
    return std::ranges::none_of(group, [&](std::size_t run) { return std::isnan(worse_[run]); });
  }

  /// How far the group's best run is worse than the line. In a group of four or more, one run may
  /// be off, so a quarter of the runs is passed over.
  double distance(const Group& group, const auto& line) {
    distances_.clear();
    for (const std::size_t run : group) distances_.push_back(worse_[run] - line(run));
    const auto place = distances_.begin() + static_cast<std::ptrdiff_t>(group.size() / 4);
    std::ranges::nth_element(distances_, place);
    return *place;
  }

 private:
  static double standard_deviation(double sum, double squares, std::size_t count) {
    const double n = static_cast<double>(count);
    return std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1));
  }

  std::span<const double> worse_;
  double sum_ = 0, squares_ = 0;
  std::vector<std::size_t> order_;
  std::vector<double> distances_;
};

double in_spreads(double distance, double spread) {
  if (spread > 0) return distance / spread;
  return distance > 0 ? std::numeric_limits<double>::infinity() : 0;
}

/// Spreads below the floor are taken for it: of a metric's own effect a third, since less noise
/// makes no difference; and what three quarters of the metrics exceed, since a few runs may agree
/// by chance.
std::vector<Scores> scores_of(const std::vector<RunValues>& metrics) {
  std::vector<Scores> scores(metrics.begin(), metrics.end());
  std::vector<double> of_relative;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i].relative) of_relative.push_back(scores[i].spread());
  const double usual = of_relative.empty() ? 0 : quantile(of_relative, 0.25);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const double least = metrics[i].least / 3;
    scores[i].floor = metrics[i].relative ? std::max(least, usual)
                      : least > 0         ? least
                                          : scores[i].spread();
  }
  return scores;
}

/// By which factor a run is beyond the farthest of so many others no more often than this, where
/// tails fall as those of Student's t with two degrees of freedom: 1 / (1 + n c^2) of the time.
double beyond(double level, std::size_t runs) {
  return std::max(1.0, std::sqrt(1 / level / static_cast<double>(runs)));
}

/// Suites of which nothing changed that may be called inconclusive, where ranks cannot be sure.
constexpr double suspects = 0.05;

/// Where to be above all groups is just enough, by so many times: runs are not quite exchangeable.
constexpr double to_spare = 1.25;

/// What the head's score is compared with: the groups' scores.
struct Levels {
  std::vector<double> descending;
  double suspect = 0, limit = 0;  ///< scores above these are suspect, are sure

  Levels(std::vector<double> scores, std::size_t earlier, std::size_t results, double level)
      : descending(std::move(scores)) {
    std::ranges::sort(descending, std::greater<>());
    const double highest = std::max(0.0, descending.front());
    sure_ = can_be_sure(earlier, results, level);
    const double groups = static_cast<double>(descending.size()) + 1;
    const auto above = static_cast<std::size_t>(level / 2 * groups);  // with the head itself
    if (groups * level < 1)
      limit = highest * beyond(level / 2, earlier);
    else  // half of the level, where there are groups enough
      limit = above == 0 ? highest * to_spare : std::max(0.0, descending[above - 1]);
    suspect = highest * beyond(suspects, earlier);
  }

  void judge(RunRank& rank) const {
    const auto above = std::ranges::find_if(descending, [&](double s) { return s < rank.score; });
    rank.p = (static_cast<double>(above - descending.begin()) + 1) /
             (static_cast<double>(descending.size()) + 1);
    rank.suspect = rank.score > suspect;
    rank.sure = sure_ && rank.score > limit;
    const double passes = sure_ ? std::min(limit, suspect) : suspect;
    rank.limit = std::max(0.0, rank.drift) + passes * rank.spread;
  }

 private:
  bool sure_ = false;
};

}  // namespace

std::optional<CommonFactor> take_out_common_factor(std::vector<RunValues>& metrics,
                                                   std::size_t earlier) {
  const auto counts = [](const RunValues& metric) {
    return metric.follows &&
           std::ranges::none_of(metric.worse, [](double x) { return std::isnan(x); });
  };
  CommonFactor factor;
  std::vector<std::vector<double>> by_run;
  for (const RunValues& metric : metrics) {
    if (!counts(metric)) continue;
    ++factor.metrics;
    const double centre = median(std::span(metric.worse).first(earlier));
    by_run.resize(metric.worse.size());
    for (std::size_t run = 0; run < metric.worse.size(); ++run)
      by_run[run].push_back(metric.worse[run] - centre);
  }
  if (factor.metrics < fewest_for_common_factor) return std::nullopt;
  for (const auto& of_run : by_run) factor.of_runs.push_back(median(of_run));
  const double centre = median(std::span(factor.of_runs).first(earlier));
  for (double& value : factor.of_runs) value -= centre;
  for (RunValues& metric : metrics)
    if (metric.follows)
      for (std::size_t run = 0; run < metric.worse.size(); ++run)
        metric.worse[run] -= factor.of_runs[run];
  const auto before = std::span(factor.of_runs).first(earlier);
  factor.head = median(std::span(factor.of_runs).subspan(earlier));
  const Trend trend(before);
  const double led = trend.at((earlier + factor.of_runs.size() - 1) / 2);
  const auto [low, high] = std::ranges::minmax(before);
  factor.beyond = std::max(0.0, factor.head - std::max({high, led})) +
                  std::min(0.0, factor.head - std::min({low, led}));
  return factor;
}

bool drifts(const RunValues& metric, std::size_t earlier) {
  if (!metric.relative) return false;
  const Trend trend(std::span(metric.worse).first(earlier));
  return trend.at(metric.worse.size() - 1) - trend.at(0) >= metric.least;
}

std::vector<RunRank> rank_runs(const std::vector<RunValues>& metrics, std::size_t earlier,
                               double level) {
  std::vector<RunRank> ranks(metrics.size());
  if (metrics.empty()) return ranks;
  const std::size_t runs = metrics.front().worse.size(), results = runs - earlier;
  const std::vector<Group> groups = groups_of(runs, results);
  std::vector<Scores> all_scores = scores_of(metrics);
  std::vector<double> worst(groups.size(), 0);
  Group head(results);
  std::iota(head.begin(), head.end(), earlier);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    Scores& scores = all_scores[i];
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!scores.has(groups[g])) continue;
      const auto others = scores.others(groups[g]);
      const double distance =
          scores.distance(groups[g], [&](std::size_t) { return others.centre; });
      worst[g] = std::max(worst[g], in_spreads(distance, others.spread));
    }
    const auto others = scores.others(head);
    // Where a drift leads by itself is no change: that takes only from the head's own score.
    const Trend trend(std::span(metrics[i].worse).first(earlier));
    const double distance = scores.distance(
        head, [&](std::size_t run) { return std::max(others.centre, trend.at(run)); });
    ranks[i].score = in_spreads(distance, others.spread);
    ranks[i].spread = others.spread;
    ranks[i].drift = trend.at(runs - 1) - others.centre;
  }
  const Levels levels(std::move(worst), earlier, results, level);
  for (RunRank& rank : ranks) levels.judge(rank);
  return ranks;
}

bool can_be_sure(std::size_t earlier, std::size_t results, double level) {
  if (results == 1 && earlier >= fewest_for_single) return true;
  return smallest_rank_p(earlier, results) <= level;
}

std::size_t results_needed(std::size_t earlier, std::size_t results, double level) {
  do ++results;
  while (smallest_rank_p(earlier, results) > level);
  return results;
}

}  // namespace fathom::gate
