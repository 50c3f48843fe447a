#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gate/check.h"
#include "gate/run_metrics.h"
#include "results/document.h"

namespace fathom::gate {

/// Seconds that a round's processes take to start, whatever they measure: of six on an H200.
inline constexpr double round_start_s = 2;

/// How a suite's metrics scatter, taken from recordings; draws rounds that scatter likewise.
class RecordedNoise {
 public:
  /// From several recorded rounds of the same suite on one machine, at least three: a drawn round
  /// has the deviations of one of them, of all metrics together, so that what moves them together
  /// stays.
  explicit RecordedNoise(const std::vector<RunMetrics>& rounds);

  std::size_t metrics() const { return shape_.metrics.size(); }
  const MetricValue& metric(std::size_t index) const { return shape_.metrics[index]; }
  /// Standard deviation of the deviations of one metric, relative.
  double spread(std::size_t index) const;

  /// Wall time of a round of the metrics in `only`, or of all; nothing where the recordings do not
  /// say. What a round of all takes beside starting its processes goes by the share of the sampling
  /// that the metrics have, since each has its preparation and its check: on an H200 rounds of nine
  /// cases took 2.3 s where those of 198 took 16.
  std::optional<double> seconds_of(const std::vector<std::string>& only) const;

  /// A round; `slower` (relative, 0.03 is 3 %) makes metric `slowed` worse.
  RunMetrics draw(std::mt19937_64& generator, std::size_t slowed = 0, double slower = 0) const;

 private:
  RunMetrics shape_;                             ///< with the centre of every metric
  std::vector<std::vector<double>> deviations_;  ///< logarithms: by metric, then by round
};

/// A share with its Clopper-Pearson interval of 95 %.
struct Share {
  std::size_t hits = 0, trials = 0;
  double value() const { return static_cast<double>(hits) / static_cast<double>(trials); }
  Interval interval() const;
};
/// "98.00 % (95.70 to 99.26 %)": the share and its interval.
std::string share_text(const Share& share);

/// Decisions on suites of which nothing differs.
struct FalseAlarms {
  Share regressions;   ///< suites that would have failed
  Share inconclusive;  ///< suites that would have ended with exit code 3
  void add(const CheckResult& result) {
    regressions.hits += exit_code(result) == ExitCode::check_failed;
    inconclusive.hits += exit_code(result) == ExitCode::inconclusive;
    ++regressions.trials, ++inconclusive.trials;
  }
};

/// One decision on simulated runs, of which the head's metric `slowed` is slower. A generator goes
/// on from one to the next; each has a seed of its own as well.
using Decide = std::function<CheckResult(std::mt19937_64& generator, std::uint64_t seed,
                                         std::size_t slowed, double slower)>;

/// Paired decisions, every round drawn anew. `noise` outlives what this returns.
Decide paired_decisions(const RecordedNoise& noise);

/// What a stored decision is made of.
struct StoredRuns {
  std::size_t earlier, results;
};
Decide stored_decisions(const RecordedNoise& noise, StoredRuns runs);

FalseAlarms simulate_false_alarms(const Decide& decide, std::size_t decisions, std::uint64_t seed);

/// How often a slowdown of one metric, a different one in each trial, is confirmed as its
/// regression.
Share simulate_power(const RecordedNoise& noise, const Decide& decide, double slower,
                     std::size_t trials, std::uint64_t seed);

}  // namespace fathom::gate
