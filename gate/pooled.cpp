#include <fmt/format.h>

#include <cmath>

#include "gate/parse.h"
#include "results/clean_text.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// Others of the same name might hide it in their median.
void require_plausible(double sample, const std::string& name, const Place& place) {
  const bool too_small = sample != 0 && std::abs(sample) < smallest_value;
  if (too_small || !(std::abs(sample) <= largest_value))
    place.refuse(fmt::format("has a sample of \"{}\" that is {} than any measurement's",
                             quotable(name), too_small ? "smaller" : "larger"));
}

}  // namespace

double seconds_in(const std::string& unit) {
  static const std::map<std::string, double> units{
      {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
  const auto found = units.find(unit);
  return found == units.end() ? 0 : found->second;
}

PooledMetrics::Pool& PooledMetrics::pool(const std::string& name, const std::string& unit,
                                         Better better) {
  const auto [found, is_new] = by_name_.try_emplace(name, pools_.size());
  if (is_new) pools_.push_back({{name, unit, better, 0, 0, {}, {}}, {}});
  return pools_[found->second];
}

void PooledMetrics::add(const std::string& name, std::string unit, Better better,
                        std::vector<double> samples, double elapsed_s, const Place& place) {
  if (const double seconds = seconds_in(unit); seconds > 0) {
    for (double& sample : samples) sample *= seconds;
    unit = "s";
  }
  for (const double sample : samples) require_plausible(sample, name, place);
  Pool& of_name = pool(name, unit, better);
  if (of_name.metric.unit != unit || of_name.metric.better != better)
    place.refuse(fmt::format("has \"{}\" again, with another unit or direction", quotable(name)));
  of_name.metric.elapsed_s += elapsed_s;
  of_name.samples.insert(of_name.samples.end(), samples.begin(), samples.end());
}

void PooledMetrics::add_problem(const std::string& name, const std::string& problem) {
  pool(name, "s", Better::lower).metric.problem = problem;
}

void PooledMetrics::add_median(const std::string& name, double seconds, const Place& place) {
  require_plausible(seconds, name, place);
  pool(name, "s", Better::lower).median = seconds;
}

void PooledMetrics::add_interval(const std::string& name, std::optional<Interval> interval) {
  pools_[by_name_.at(name)].interval = std::move(interval);
}

void PooledMetrics::move_into(RunMetrics& run) {
  for (auto& [metric, samples, median_of_all, interval] : pools_) {
    const auto value = samples.empty() ? median_of_all : median(samples);
    if (!value && metric.problem.empty()) metric.problem = "it has no value";
    metric.value = value.value_or(0);
    if (run.intervals)
      run.intervals->push_back(samples.size() > 1 ? median_interval(samples) : interval);
    run.metrics.push_back(std::move(metric));
  }
}

}  // namespace fathom::gate
