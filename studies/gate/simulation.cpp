#include "studies/gate/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <stdexcept>
#include <unordered_set>

#include "gate/check.h"
#include "gate/decision.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

/// Two sides that draw from the same noise.
class SimulatedRounds : public RoundSource {
 public:
  SimulatedRounds(const RecordedNoise& noise, std::uint64_t seed, std::size_t slowed, double slower)
      : noise_(noise), generator_(seed), slowed_(slowed), slower_(slower) {}

  RunMetrics round(Side side, const std::vector<std::string>& only) override {
    elapsed_s_ += noise_.seconds_of(only).value_or(1);
    return noise_.draw(generator_, slowed_, side == Side::head ? slower_ : 0);
  }
  double elapsed_s() const override { return elapsed_s_; }
  bool can_select() const override { return true; }

 private:
  const RecordedNoise& noise_;
  std::mt19937_64 generator_;
  std::size_t slowed_;
  double slower_;
  double elapsed_s_ = 0;
};

bool usable(const MetricValue& metric) { return metric.problem.empty() && metric.value > 0; }

std::size_t below(std::mt19937_64& generator, std::size_t count) {
  return static_cast<std::size_t>(generator() % count);
}

std::vector<RunMetrics> draws(const RecordedNoise& noise, std::size_t runs,
                              std::mt19937_64& generator, std::size_t slowed = 0,
                              double slower = 0) {
  std::vector<RunMetrics> drawn;
  for (std::size_t run = 0; run < runs; ++run)
    drawn.push_back(noise.draw(generator, slowed, slower));
  return drawn;
}

bool confirms(const CheckResult& result, const std::string& metric) {
  const auto found = std::ranges::find(result.metrics, metric, &MetricDecision::name);
  return found != result.metrics.end() && found->outcome == Outcome::regression;
}

}  // namespace

RecordedNoise::RecordedNoise(const std::vector<RunMetrics>& rounds) {
  if (rounds.size() < 3) throw std::invalid_argument("noise between rounds needs three of them");
  shape_ = rounds.front();
  shape_.metrics.clear();
  std::vector<double> seconds;
  for (const RunMetrics& round : rounds) seconds.push_back(round.elapsed_s);
  shape_.elapsed_s = std::ranges::min(seconds) > 0 ? median(seconds) : 0;
  for (const MetricSeries& series : series_of(rounds, {})) {
    if (series.base.size() != rounds.size()) continue;
    std::vector<double> logs;
    for (const MetricValue& value : series.base)
      if (usable(value)) logs.push_back(std::log(value.value));
    if (logs.size() != rounds.size()) continue;
    const double centre = median(logs);
    // A median was fitted to so few: the deviations are made as wide as those to the true one.
    const double n = static_cast<double>(logs.size());
    for (double& value : logs) value = (value - centre) * std::sqrt(n / (n - 1));
    MetricValue metric = series.base.front();
    metric.value = std::exp(centre);
    shape_.metrics.push_back(std::move(metric));
    deviations_.push_back(std::move(logs));
  }
  if (metrics() == 0) throw std::invalid_argument("no metric is in all the rounds");
}

double RecordedNoise::spread(std::size_t index) const { return robust_spread(deviations_[index]); }

std::optional<double> RecordedNoise::seconds_of(const std::vector<std::string>& only) const {
  if (shape_.elapsed_s <= 0) return std::nullopt;
  if (only.empty()) return shape_.elapsed_s;
  const std::unordered_set<std::string_view> wanted(only.begin(), only.end());
  double of_wanted = 0, of_all = 0;
  for (const MetricValue& metric : shape_.metrics) {
    of_all += metric.elapsed_s;
    if (wanted.contains(metric.name)) of_wanted += metric.elapsed_s;
  }
  if (of_all <= 0) return shape_.elapsed_s;
  const double start_s = std::min(round_start_s, shape_.elapsed_s);
  return start_s + (shape_.elapsed_s - start_s) * of_wanted / of_all;
}

RunMetrics RecordedNoise::draw(std::mt19937_64& generator, std::size_t slowed,
                               double slower) const {
  RunMetrics round = shape_;
  const std::size_t chosen = below(generator, deviations_.front().size());
  for (std::size_t i = 0; i < metrics(); ++i) {
    double deviation = deviations_[i][chosen];
    MetricValue& metric = round.metrics[i];
    if (i == slowed && slower != 0)
      deviation += (metric.better == Better::lower ? 1 : -1) * std::log1p(slower);
    metric.value *= std::exp(deviation);
  }
  return round;
}

Interval Share::interval() const {
  using boost::math::binomial;
  const double all = static_cast<double>(trials), successes = static_cast<double>(hits),
               tail = 0.025;
  return {binomial::find_lower_bound_on_p(all, successes, tail),
          binomial::find_upper_bound_on_p(all, successes, tail), 1 - 2 * tail, "Clopper-Pearson"};
}

std::string share_text(const Share& share) {
  const Interval interval = share.interval();
  return fmt::format("{:.2f} % ({:.2f} to {:.2f} %)", 100 * share.value(), 100 * interval.low,
                     100 * interval.high);
}

Decide paired_decisions(const RecordedNoise& noise) {
  return [&noise](std::mt19937_64&, std::uint64_t seed, std::size_t slowed, double slower) {
    SimulatedRounds rounds(noise, seed, slowed, slower);
    return check_paired(rounds, {.seed = seed}, {});
  };
}

Decide stored_decisions(const RecordedNoise& noise, StoredRuns runs) {
  return
      [&noise, runs](std::mt19937_64& generator, std::uint64_t, std::size_t slowed, double slower) {
        const std::vector<RunMetrics> baseline = draws(noise, runs.earlier, generator),
                                      head = draws(noise, runs.results, generator, slowed, slower);
        return check_stored(baseline, head, {});
      };
}

FalseAlarms simulate_false_alarms(const Decide& decide, std::size_t decisions, std::uint64_t seed) {
  FalseAlarms found;
  std::mt19937_64 generator(seed);
  for (std::size_t i = 0; i < decisions; ++i) found.add(decide(generator, seed + i, 0, 0));
  return found;
}

Share simulate_power(const RecordedNoise& noise, const Decide& decide, double slower,
                     std::size_t trials, std::uint64_t seed) {
  Share caught{0, trials};
  std::mt19937_64 generator(seed);
  for (std::size_t i = 0; i < trials; ++i) {
    const std::size_t slowed = below(generator, noise.metrics());
    const CheckResult result = decide(generator, seed + 1'000'003 * (i + 1), slowed, slower);
    caught.hits += confirms(result, noise.metric(slowed).name);
  }
  return caught;
}

}  // namespace fathom::gate
