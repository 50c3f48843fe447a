#pragma once

#include "gate/check.h"
#include "tests/testing.h"

namespace fathom::gate {

/// The first rounds are of everything, those after them fresh ones of suspects.
inline constexpr int first_rounds = 4;

/// Twelve metrics, times and rates, with 0.1 % of noise and a steady drift; a test changes rounds.
/// One of all metrics takes 2 s, 0.1 s of it for each, and the `elapsed_s` that a test gives it.
class PlantedRounds : public RoundSource {
 public:
  using Change = std::function<void(Side, int round, RunMetrics&)>;
  explicit PlantedRounds(Change change, std::uint64_t seed = 5)
      : change_(std::move(change)), generator_(seed) {}

  RunMetrics round(Side side, const std::vector<std::string>& only) override {
    ++count_;
    asked.push_back(only);
    RunMetrics run{.origin = "round", .fathom = true};
    run.identity = {{"gpu_name", "NVIDIA H200"}, {"driver", "580"}, {"toolkit", "13.0"}};
    for (int i = 0; i < 12; ++i)
      run.metrics.push_back({"probe/" + std::to_string(i),
                             i % 2 == 0 ? "s" : "B/s",
                             i % 2 == 0 ? Better::lower : Better::higher,
                             (1 + 0.001 * noise_(generator_)) * (1 + 0.0003 * count_),
                             0.1,
                             {1.98e9, 3.2e9, 400, {}},
                             ""});
    change_(side, count_, run);
    if (!only.empty() && selects) {
      const std::set<std::string> wanted(only.begin(), only.end());
      std::erase_if(run.metrics, [&](const auto& metric) { return !wanted.contains(metric.name); });
    }
    elapsed_s_ += 0.8 + run.elapsed_s;  // beside measuring
    for (const MetricValue& metric : run.metrics) elapsed_s_ += metric.elapsed_s;
    return run;
  }
  double elapsed_s() const override { return elapsed_s_; }
  bool can_select() const override { return selects; }

  std::vector<std::vector<std::string>> asked;
  bool selects = true;  ///< else rounds measure everything whatever they are asked for

 private:
  Change change_;
  int count_ = 0;
  double elapsed_s_ = 0;
  std::mt19937_64 generator_;
  std::normal_distribution<double> noise_;
};

inline void slow_down(MetricValue& metric, double by) {
  metric.value *= metric.better == Better::lower ? 1 + by : 1 / (1 + by);
}

/// The same of the run's first so many metrics.
inline void slow_first(RunMetrics& run, std::size_t metrics, double by) {
  for (std::size_t i = 0; i < metrics; ++i) slow_down(run.metrics[i], by);
}

/// The head's metric is slower by so much in the rounds up to one.
inline PlantedRounds::Change slow_head(std::size_t metric, double by, int last_round = 1 << 20) {
  return [=](Side side, int round, RunMetrics& run) {
    if (side == Side::head && round <= last_round) slow_down(run.metrics[metric], by);
  };
}

/// All metrics of this side are as `change` makes them.
inline PlantedRounds::Change of_side(Side changed, const std::function<void(RunMetrics&)>& change) {
  return [=](Side side, int, RunMetrics& run) {
    if (side == changed) change(run);
  };
}

inline CheckResult check(PlantedRounds::Change change, const Rules& rules = {},
                         const PairedOptions& options = {}) {
  PlantedRounds rounds(std::move(change));
  return check_paired(rounds, options, rules);
}

inline const MetricDecision& decision(const CheckResult& result, int metric) {
  return result.metrics.at(static_cast<std::size_t>(metric));
}

/// "1 after 6: regression 4": the exit code, the fresh rounds a side if there were any, and the
/// metrics that are not unchanged, by outcome.
inline std::string told(const CheckResult& result) {
  std::string text = fmt::format("{}", to_int(exit_code(result)));
  if (result.confirmation_rounds > 0) text += fmt::format(" after {}", result.confirmation_rounds);
  text += ":";
  std::map<Outcome, std::string> places;
  for (std::size_t i = 0; i < result.metrics.size(); ++i)
    places[result.metrics[i].outcome] += fmt::format(" {}", i);
  places.erase(Outcome::unchanged);
  for (const auto& [outcome, all] : places) text += fmt::format(" {}{}", to_string(outcome), all);
  return text;
}

/// The check of such rounds, in which one metric must come out so.
inline CheckResult decides(PlantedRounds::Change change, int metric, Outcome outcome,
                           std::string_view reason = "", const Rules& rules = {}) {
  CheckResult result = check(std::move(change), rules);
  CHECK(decision(result, metric).outcome == outcome);
  CHECK_THAT(decision(result, metric).reason, contains(reason));
  return result;
}

}  // namespace fathom::gate
