#include "studies/gate/noise_study.h"

#include <algorithm>
#include <cmath>

#include "gate/check.h"

namespace fathom::gate {
namespace {

void add_gaussian(Deviations& runs, double spread, std::mt19937_64& generator) {
  std::normal_distribution<double> noise(0, spread);
  for (auto& run : runs)
    for (double& metric : run) metric += noise(generator);
}

/// Metrics that are in another state in some of their runs, each by itself.
void add_states(Deviations& runs, double share, double slower, std::mt19937_64& generator) {
  std::bernoulli_distribution in_state(share);
  for (auto& run : runs)
    for (double& metric : run)
      if (in_state(generator)) metric += std::log1p(slower);
}

void add_to_all(std::vector<double>& run, double slower) {
  for (double& metric : run) metric += std::log1p(slower);
}

/// Every so manyth metric, by 0.2 % a run.
void add_drift(Deviations& runs, std::size_t every) {
  for (std::size_t run = 0; run < runs.size(); ++run)
    for (std::size_t i = 0; i < runs[run].size(); i += every)
      runs[run][i] += 0.002 * static_cast<double>(run);
}

void slow_head(Deviations& runs, std::size_t first_of_head, double slower) {
  for (std::size_t run = first_of_head; run < runs.size(); ++run) add_to_all(runs[run], slower);
}

using Generator = std::mt19937_64;

const NoiseRow rows[] = {
    {"Gaussian, 0.3 %", 0.003},
    {"Gaussian, 2 %", 0.02},
    {"Student t with 2 degrees of freedom, 0.3 %", 0,
     [](Deviations& runs, std::size_t, Generator& generator) {
       std::student_t_distribution<double> noise(2);
       for (auto& run : runs)
         for (double& metric : run) metric += 0.003 * noise(generator);
     }},
    {"each metric 3 % slower in a tenth of its runs", 0.003,
     [](Deviations& runs, std::size_t, Generator& generator) {
       add_states(runs, 0.1, 0.03, generator);
     }},
    {"each metric 10 % slower in one run of a hundred", 0.003,
     [](Deviations& runs, std::size_t, Generator& generator) {
       add_states(runs, 0.01, 0.1, generator);
     }},
    {"each metric with its own noise, 0.05 % to 5 %", 0,
     [](Deviations& runs, std::size_t, Generator& generator) {
       std::normal_distribution<double> noise;
       const double metrics = static_cast<double>(runs.front().size());
       for (auto& run : runs)
         for (std::size_t i = 0; i < run.size(); ++i)
           run[i] += 0.0005 * std::pow(100, static_cast<double>(i) / metrics) * noise(generator);
     }},
    {"drift of 0.2 % a run, of all metrics", 0.003,
     [](Deviations& runs, std::size_t, Generator&) {
       for (std::size_t run = 0; run < runs.size(); ++run)
         add_to_all(runs[run], 0.002 * static_cast<double>(run));
     }},
    {"drift of 0.2 % a run, of every second metric", 0.003,
     [](Deviations& runs, std::size_t, Generator&) { add_drift(runs, 2); }},
    {"drift of 0.2 % a run, of one metric in ten", 0.003,
     [](Deviations& runs, std::size_t, Generator&) { add_drift(runs, 10); }},
    {"all metrics 3 % slower in a fifth of the runs", 0.003,
     [](Deviations& runs, std::size_t, Generator& generator) {
       std::bernoulli_distribution slow(0.2);
       for (auto& run : runs)
         if (slow(generator)) add_to_all(run, 0.03);
     }},
    {"the head on a machine 3 % slower", 0.003,
     [](Deviations& runs, std::size_t head, Generator&) { slow_head(runs, head, 0.03); }},
    {"the head on a machine 1.5 % slower", 0.003,
     [](Deviations& runs, std::size_t head, Generator&) { slow_head(runs, head, 0.015); }},
};

RunMetrics run_of(const std::vector<double>& worse, std::size_t number) {
  RunMetrics run;
  run.date = "2026-01-01T00:" + std::to_string(10 + number) + ":00Z";
  for (std::size_t i = 0; i < worse.size(); ++i) {
    MetricValue metric;
    metric.name = "benchmark_" + std::to_string(i);
    metric.unit = "s";
    metric.value = 1e-3 * std::exp(worse[i]);
    run.metrics.push_back(std::move(metric));
  }
  return run;
}

CheckResult decide(const Deviations& runs, std::size_t first_of_head) {
  std::vector<RunMetrics> all;
  for (std::size_t run = 0; run < runs.size(); ++run) all.push_back(run_of(runs[run], run));
  const std::span<const RunMetrics> both(all);
  return check_stored(both.first(first_of_head), both.subspan(first_of_head), {});
}

}  // namespace

std::span<const NoiseRow> noise_rows() { return rows; }

NoiseShares study_noise(const NoiseRow& row, const NoiseStudy& study) {
  NoiseShares shares;
  std::mt19937_64 generator(study.seed);
  for (std::size_t suite = 0; suite < study.suites; ++suite) {
    Deviations runs(study.earlier_runs + study.head_results, std::vector<double>(study.metrics, 0));
    if (row.gaussian > 0) add_gaussian(runs, row.gaussian, generator);
    if (row.more) row.more(runs, study.earlier_runs, generator);
    const CheckResult unchanged = decide(runs, study.earlier_runs);
    shares.false_alarms.hits += count(unchanged, Outcome::regression) > 0;
    shares.inconclusive.hits += exit_code(unchanged) == ExitCode::inconclusive;
    const std::size_t slowed = generator() % study.metrics;
    for (std::size_t run = study.earlier_runs; run < runs.size(); ++run)
      runs[run][slowed] += std::log1p(study.slower);
    const CheckResult slower = decide(runs, study.earlier_runs);
    const Outcome outcome = slower.metrics.at(slowed).outcome;
    shares.found.hits += outcome == Outcome::regression;
    shares.undecided.hits +=
        outcome != Outcome::regression && exit_code(slower) == ExitCode::inconclusive;
  }
  for (Share* share :
       {&shares.false_alarms, &shares.inconclusive, &shares.found, &shares.undecided})
    share->trials = study.suites;
  return shares;
}

}  // namespace fathom::gate
