#include "gate/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "gate/rank_statistics.h"
#include "results/names.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// Below half of the effect that counts a change is none: that is where the tests' hypothesis ends.
std::vector<double> moved_back(const OrientedSamples& values, double effect) {
  std::vector<double> head = values.head;
  const double margin = values.on_scale(effect * 0.5);
  for (double& value : head) value -= margin;
  return head;
}

/// A file may have its times in any unit: here they are in seconds.
std::string in_words(const std::string& unit) {
  return unit.empty() ? "no unit" : unit == "s" ? "a time" : unit;
}

}  // namespace

std::vector<MetricSeries> series_of(std::span<const RunMetrics> base,
                                    std::span<const RunMetrics> head, const Rules& rules) {
  std::vector<MetricSeries> all;
  std::unordered_map<std::string_view, std::size_t> places;
  const auto add = [&](const RunMetrics& run, bool is_head, std::size_t number) {
    for (const MetricValue& metric : run.metrics) {
      const auto [found, is_new] = places.try_emplace(metric.name, all.size());
      if (is_new)
        all.push_back({.name = metric.name,
                       .unit = metric.unit,
                       .better = metric.better,
                       .rule = find_rule(rules, metric.name)});
      MetricSeries& series = all[found->second];
      if (metric.unit != series.unit) {
        series.other_unit = true;
        series.redefined = fmt::format("its unit changed from {} to {}", in_words(series.unit),
                                       in_words(metric.unit));
      } else if (metric.better != series.better) {
        series.redefined = fmt::format("{} is better now", fathom::to_string(metric.better));
      }
      if (metric.problem.empty()) {
        (is_head ? series.head : series.base).push_back(metric);
        if (!is_head) series.base_runs.push_back(number);
      } else if (is_head) {
        series.problem = metric.problem;
      }
    }
  };
  for (std::size_t i = 0; i < base.size(); ++i) add(base[i], false, i);
  for (std::size_t i = 0; i < head.size(); ++i) add(head[i], true, i);
  return all;
}

OrientedSamples oriented(const MetricSeries& series) {
  const auto above_zero = [](const MetricValue& metric) { return metric.value > 0; };
  OrientedSamples values;
  values.relative =
      std::ranges::all_of(series.base, above_zero) && std::ranges::all_of(series.head, above_zero);
  const double sign = series.better == Better::lower ? 1 : -1;
  const auto convert = [&](const std::vector<MetricValue>& metrics, std::vector<double>& to) {
    for (const MetricValue& metric : metrics)
      to.push_back(sign * (values.relative ? std::log(metric.value) : metric.value));
  };
  convert(series.base, values.base);
  convert(series.head, values.head);
  return values;
}

double OrientedSamples::on_scale(double effect) const {
  return relative ? std::log1p(effect) : effect * std::abs(median(base));
}

double OrientedSamples::spread() const {
  std::vector<double> residuals;
  for (const auto* side : {&base, &head}) {
    if (side->size() < 2) continue;
    const double centre = median(*side);
    for (const double value : *side) residuals.push_back(value - centre);
  }
  if (residuals.size() < 4) return 0;
  // Two medians were fitted: as of a standard deviation, n - 2 are left.
  const double n = static_cast<double>(residuals.size());
  return robust_spread(residuals) * std::sqrt(n / (n - 2));
}

double OrientedSamples::noise_floor() const {
  return spread() *
         std::sqrt(1 / static_cast<double>(base.size()) + 1 / static_cast<double>(head.size()));
}

double usual_spread(const std::vector<MetricSeries>& series) {
  std::vector<double> spreads;
  for (const MetricSeries& metric : series) {
    const OrientedSamples values = oriented(metric);
    if (values.relative && !values.base.empty() && !values.head.empty())
      spreads.push_back(values.spread());
  }
  return spreads.empty() ? 0 : median(spreads);
}

Evidence evidence_of_rounds(const MetricSeries& series) {
  const OrientedSamples values = oriented(series);
  const double least = values.on_scale(series.effect()), floor = values.noise_floor();
  const Shift shift = shift_of(values.base, values.head);
  return {values.relative,
          shift.estimate,
          shift.interval,
          floor,
          least,
          std::max(least, noise_factor * floor),
          rank_test_greater(values.base, moved_back(values, series.effect()))};
}

double least_p_with_more(const MetricSeries& series, std::size_t more) {
  OrientedSamples values = oriented(series);
  values.head = moved_back(values, series.effect());
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
