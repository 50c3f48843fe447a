#include "gate/evidence.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "gate/rank_statistics.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// Below half of the effect that counts a change is none: that is where the tests' hypothesis ends.
constexpr double margin_share = 0.5;

double threshold_for(double noise_floor, const GateOptions& options, double least) {
  return std::max(least, options.noise_factor * noise_floor);
}

/// The effect on the scale of the values: of a logarithm, or of the base's own size.
double on_scale(double effect, const Badness& values) {
  return values.relative ? std::log1p(effect) : effect * std::abs(median(values.base));
}

std::vector<double> moved_back(std::vector<double> values, double by) {
  for (double& value : values) value -= by;
  return values;
}

std::string in_words(const std::string& unit) { return unit.empty() ? "no unit" : unit; }

}  // namespace

std::vector<MetricSeries> series_of(std::span<const RunMetrics> base,
                                    std::span<const RunMetrics> head) {
  std::vector<MetricSeries> all;
  std::unordered_map<std::string_view, std::size_t> places;
  const auto add = [&](const RunMetrics& run, bool is_head, std::size_t number) {
    for (const MetricValue& metric : run.metrics) {
      const auto [found, is_new] = places.try_emplace(metric.name, all.size());
      if (is_new) all.push_back({metric.name, metric.unit, metric.better, {}, {}, {}, {}});
      MetricSeries& series = all[found->second];
      if (metric.unit != series.unit)
        series.redefined = "from " + in_words(series.unit) + " to " + in_words(metric.unit);
      else if (metric.better != series.better)
        series.redefined = std::string("to ") +
                           (metric.better == Better::lower ? "lower" : "higher") + " is better";
      if (metric.problem.empty()) {
        (is_head ? series.head : series.base).push_back(metric);
        (is_head ? series.head_runs : series.base_runs).push_back(number);
      } else if (is_head) {
        series.problem = metric.problem;
      }
    }
  };
  for (std::size_t i = 0; i < base.size(); ++i) add(base[i], false, i);
  for (std::size_t i = 0; i < head.size(); ++i) add(head[i], true, i);
  return all;
}

Badness badness_of(const MetricSeries& series) {
  const auto above_zero = [](const MetricValue& metric) { return metric.value > 0; };
  Badness values;
  values.relative = std::all_of(series.base.begin(), series.base.end(), above_zero) &&
                    std::all_of(series.head.begin(), series.head.end(), above_zero);
  const double sign = series.better == Better::lower ? 1 : -1;
  const auto convert = [&](const std::vector<MetricValue>& metrics, std::vector<double>& to) {
    for (const MetricValue& metric : metrics)
      to.push_back(sign * (values.relative ? std::log(metric.value) : metric.value));
  };
  convert(series.base, values.base);
  convert(series.head, values.head);
  return values;
}

double spread_of_sides(std::span<const double> base, std::span<const double> head) {
  std::vector<double> residuals;
  for (const auto& side : {base, head}) {
    if (side.size() < 2) continue;
    const double centre = median(side);
    for (const double value : side) residuals.push_back(value - centre);
  }
  if (residuals.size() < 4) return 0;
  // Two medians were fitted: as of a standard deviation, n - 2 are left.
  const double n = static_cast<double>(residuals.size());
  return robust_spread(residuals) * std::sqrt(n / (n - 2));
}

double usual_spread(const std::vector<MetricSeries>& series) {
  std::vector<double> spreads;
  for (const MetricSeries& metric : series) {
    const Badness values = badness_of(metric);
    if (values.relative && !values.base.empty() && !values.head.empty())
      spreads.push_back(spread_of_sides(values.base, values.head));
  }
  return spreads.empty() ? 0 : median(spreads);
}

Evidence evidence_of_rounds(const MetricSeries& series, const GateOptions& options, double effect) {
  const Badness values = badness_of(series);
  const double least = on_scale(effect, values);
  const Shift shift = shift_of(values.base, values.head, options.confidence);
  const double rounds_of_base = static_cast<double>(values.base.size()),
               rounds_of_head = static_cast<double>(values.head.size());
  const double floor = spread_of_sides(values.base, values.head) *
                       std::sqrt(1 / rounds_of_base + 1 / rounds_of_head);
  const double margin = on_scale(effect * margin_share, values);
  return {values.relative,
          shift.estimate,
          shift.interval,
          floor,
          threshold_for(floor, options, least),
          rank_test_greater(values.base, moved_back(values.head, margin))};
}

double least_p_with_more(const MetricSeries& series, double effect, std::size_t more) {
  Badness values = badness_of(series);
  values.head = moved_back(values.head, on_scale(effect * margin_share, values));
  const double best = std::min(std::ranges::min(values.base), std::ranges::min(values.head));
  const double worst = std::max(std::ranges::max(values.base), std::ranges::max(values.head));
  values.base.insert(values.base.end(), more, best - 1 - std::abs(best));
  values.head.insert(values.head.end(), more, worst + 1 + std::abs(worst));
  return rank_test_greater(values.base, values.head);
}

MetricSeries mirrored(MetricSeries series) {
  series.better = series.better == Better::lower ? Better::higher : Better::lower;
  return series;
}

}  // namespace fathom::gate
