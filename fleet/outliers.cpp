#include "fleet/outliers.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>

#include "results/distributions.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t fewest_cards = 3;
constexpr double assumed_freedom = 30;
/// The efficiency of the median absolute deviation against the standard deviation, for normal
/// samples.
constexpr double spread_efficiency = 0.37;

/// One card's gap in one metric, and what is known of its noise beforehand.
struct Gap {
  std::size_t member;  ///< place in the group
  double value;
  double noise;
};

/// How much worse a figure is than `reference`, as a logarithm; nothing unless both are above 0.
std::optional<double> gap_of(Reading figure, std::optional<double> reference, Better better) {
  if (!(*figure > 0) || !(reference > 0)) return std::nullopt;
  const double ratio = std::log(*figure / *reference);
  return better == Better::higher ? -ratio : ratio;
}

/// What is compared of one metric.
struct Column {
  Compared compared;
  double median;  ///< of the group's figures together, else alone
  std::vector<Gap> gaps;
};

using Which = Reading MetricFigures::*;

std::optional<double> median_of(const Fleet& fleet, const Group& group, std::size_t metric,
                                Which which) {
  std::vector<double> values;
  for (const std::size_t gpu : group.members)
    if (const Reading figure = fleet.gpus[gpu].at(metric).*which) values.push_back(*figure);
  if (values.size() < fewest_cards) return std::nullopt;
  return median(values);
}

/// Cards that have both figures and those that have one of them are not alike in their noise: each
/// kind is a column of its own.
std::vector<Column> columns_of(const Fleet& fleet, const Group& group, std::size_t metric) {
  const Better better = fleet.metrics[metric].better;
  const auto alone = median_of(fleet, group, metric, &MetricFigures::alone);
  const auto together = median_of(fleet, group, metric, &MetricFigures::together);
  const double median_figure = together.value_or(alone.value_or(0));
  Column both{Compared::level, median_figure, {}}, one = both, loss{Compared::loss, 0, {}};
  std::vector<double> losses;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const MetricFigures figures = fleet.gpus[group.members[i]].at(metric);
    const double noise = figures.noise ? *figures.noise : 0;
    const auto a = gap_of(figures.alone, alone, better);
    const auto t = gap_of(figures.together, together, better);
    if (a && t) {
      both.gaps.push_back({i, (*a + *t) / 2, noise / std::sqrt(2.0)});
      losses.push_back(gap_of(figures.together, *figures.alone, better).value());
      loss.gaps.push_back({i, losses.back(), noise * std::sqrt(2.0)});
    } else if (a || t) {
      one.gaps.push_back({i, a ? *a : *t, noise});
    }
  }
  if (!losses.empty()) {
    const double usual = median(losses);
    for (Gap& gap : loss.gaps) gap.value -= usual;
  }
  std::vector<Column> columns;
  for (Column* column : {&both, &one, &loss})
    if (column->gaps.size() >= fewest_cards) columns.push_back(std::move(*column));
  return columns;
}

struct Spread {
  double deviation = 0;  ///< that a card's gap is divided by
  double freedom = 0;
  double robust = 0;  ///< of the cards alone
  double typical_noise = 0;
};

Spread spread_of(const std::vector<Gap>& gaps, double card_noise) {
  std::vector<double> values, noises;
  for (const Gap& gap : gaps) {
    values.push_back(gap.value);
    noises.push_back(gap.noise);
  }
  Spread spread;
  spread.robust = robust_spread(values);
  spread.typical_noise = median(noises);
  const double seen = spread_efficiency * (static_cast<double>(gaps.size()) - 1);
  spread.freedom = assumed_freedom + seen;
  const double assumed = card_noise * card_noise + spread.typical_noise * spread.typical_noise;
  const double moderated = std::sqrt(
      (assumed_freedom * assumed + seen * spread.robust * spread.robust) / spread.freedom);
  spread.deviation = std::max(moderated, spread.robust);
  return spread;
}

double badness(const Finding& finding) {
  return finding.limit > 0 ? finding.score / finding.limit : 0;
}

Distribution distribution_of(std::size_t group, std::size_t metric, const Column& column,
                             const Spread& spread) {
  Distribution d{group, metric, column.gaps.size(), column.median, {}, spread.robust};
  std::vector<double> values;
  for (const Gap& gap : column.gaps) values.push_back(std::expm1(gap.value));
  std::ranges::sort(values);
  for (const double p : distribution_points) {
    const double at = p * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    d.quantiles.push_back(std::lerp(values[low], values[high], at - static_cast<double>(low)));
  }
  return d;
}

/// How often a card is tested: metrics that enough cards of a group have to be held against each
/// other, twice where they have a loss. What only one card of each host counts may have fewer.
double tests_of(const Fleet& fleet, const Group& group) {
  double tests = 0;
  for (std::size_t metric = 0; metric < fleet.metrics.size(); ++metric) {
    std::size_t any = 0, both = 0;
    for (const std::size_t gpu : group.members) {
      const MetricFigures figures = fleet.gpus[gpu].at(metric);
      const bool a(figures.alone), t(figures.together);
      any += a || t, both += a && t;
      if (both >= fewest_cards) break;
    }
    tests += both >= fewest_cards ? 2 : any >= fewest_cards ? 1 : 0;
  }
  return std::max(1.0, tests);
}

/// Scores all metrics of one group, and adds its cards and distributions.
void score_group(const Fleet& fleet, std::size_t number, const OutlierOptions& options,
                 Outliers& outliers) {
  const Group& group = outliers.groups[number];
  std::vector<CardScore> cards(group.members.size());
  for (std::size_t i = 0; i < cards.size(); ++i) cards[i] = {group.members[i], number, {}, {}};
  const double chance = options.false_names / tests_of(fleet, group);
  std::mutex mutex;
  in_parallel(fleet.metrics.size(), [&](std::size_t metric) {
    std::optional<Distribution> distribution;  // of the first column of levels
    for (const Column& column : columns_of(fleet, group, metric)) {
      const Spread spread = spread_of(column.gaps, options.card_noise);
      const double limit = student_upper_quantile(spread.freedom, chance);
      if (column.compared == Compared::level && !distribution)
        distribution = distribution_of(number, metric, column, spread);
      const std::lock_guard guard(mutex);
      for (const Gap& gap : column.gaps) {
        const double excess =
            std::max(0.0, gap.noise * gap.noise - spread.typical_noise * spread.typical_noise);
        const double deviation = std::sqrt(spread.deviation * spread.deviation + excess);
        const Finding finding{metric, column.compared, std::expm1(gap.value), gap.value / deviation,
                              limit};
        CardScore& card = cards[gap.member];
        if (card.worst.limit == 0 || badness(finding) > badness(card.worst)) card.worst = finding;
        if (finding.score >= finding.limit && finding.gap >= options.least_gap)
          card.findings.push_back(finding);
      }
    }
    const std::lock_guard guard(mutex);
    if (distribution) outliers.distributions.push_back(std::move(*distribution));
  });
  for (CardScore& card : cards) {
    std::ranges::sort(card.findings, [](const Finding& a, const Finding& b) {
      return std::tuple(-badness(a), a.metric, a.compared) <
             std::tuple(-badness(b), b.metric, b.compared);
    });
  }
  add_causes(fleet, group, cards);
  std::ranges::move(cards, std::back_inserter(outliers.cards));
}

}  // namespace

std::size_t Outliers::named() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(cards, [](const CardScore& card) { return !card.findings.empty(); }));
}

Outliers find_outliers(const Fleet& fleet, const OutlierOptions& options) {
  Outliers outliers;
  outliers.groups = groups_of(fleet);
  for (std::size_t i = 0; i < outliers.groups.size(); ++i)
    score_group(fleet, i, options, outliers);
  std::ranges::sort(outliers.cards, [](const CardScore& a, const CardScore& b) {
    return std::tuple(a.findings.empty(), -badness(a.worst), a.gpu) <
           std::tuple(b.findings.empty(), -badness(b.worst), b.gpu);
  });
  std::ranges::sort(outliers.distributions, {},
                    [](const Distribution& d) { return std::pair(d.group, d.metric); });
  return outliers;
}

bool beyond_measured(double gap) {
  constexpr double times = 1000;  // one lane of PCIe 1 for sixteen of PCIe 5 is 256
  return gap > times - 1 || gap < 1 / times - 1;
}

std::string kind_of(const Finding& finding, const MetricFigures& figures) {
  if (finding.compared == Compared::loss) return "loses more together";
  if (figures.alone && figures.together) return "alone and together";
  return figures.alone ? "alone" : "together";
}

}  // namespace fathom::fleet
