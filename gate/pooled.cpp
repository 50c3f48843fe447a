#include "gate/pooled.h"

#include <fmt/format.h>

#include <cmath>

#include "results/clean_text.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// Seconds in a unit of time; 0 for another unit.
double seconds_of(const std::string& unit) {
  static const std::map<std::string, double> units{
      {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
  const auto found = units.find(unit);
  return found == units.end() ? 0 : found->second;
}

}  // namespace

PooledMetrics::Pool& PooledMetrics::pool(const std::string& name, const std::string& unit,
                                         Better better) {
  const auto [found, is_new] = by_name_.try_emplace(name, pools_.size());
  if (is_new) pools_.push_back({{name, unit, better, 0, 0, {}, {}}, {}});
  return pools_[found->second];
}

void PooledMetrics::add(const std::string& name, std::string unit, Better better,
                        std::vector<double> samples, double elapsed_s, const Place& place) {
  if (const double seconds = seconds_of(unit); seconds > 0) {
    for (double& sample : samples) sample *= seconds;
    unit = "s";
  }
  for (const double sample : samples) {
    // Others of the same name might hide it in their median.
    const bool too_small = sample != 0 && std::abs(sample) < smallest_value;
    if (too_small || !(std::abs(sample) <= largest_value))
      place.refuse(fmt::format("has a sample of \"{}\" that is {} than any measurement's",
                               quotable(name), too_small ? "smaller" : "larger"));
  }
  Pool& of_name = pool(name, unit, better);
  if (of_name.metric.unit != unit || of_name.metric.better != better)
    place.refuse(fmt::format("has \"{}\" again, with another unit or direction", quotable(name)));
  of_name.metric.elapsed_s += elapsed_s;
  of_name.samples.insert(of_name.samples.end(), samples.begin(), samples.end());
}

void PooledMetrics::add_problem(const std::string& name, const std::string& problem) {
  pool(name, "s", Better::lower).metric.problem = problem;
}

void PooledMetrics::move_into(RunMetrics& run) {
  for (auto& [metric, samples] : pools_) {
    if (samples.empty() && metric.problem.empty()) metric.problem = "it has no value";
    if (!samples.empty()) metric.value = median(samples);
    run.metrics.push_back(std::move(metric));
  }
}

}  // namespace fathom::gate
