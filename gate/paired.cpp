#include "gate/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "gate/confirmation.h"
#include "gate/verdicts.h"
#include "results/format.h"

namespace fathom::gate {
namespace {

constexpr std::size_t controls_wanted = 8, improvements_shown = 8;

bool worst_first(const Candidate& a, const Candidate& b) { return a.severity > b.severity; }

class PairedCheck {
 public:
  explicit PairedCheck(const PairedRun& run) : run_(run) { run_.result.mode = "paired"; }

  CheckResult check() {
    Rounds all;
    const std::vector<Side> order = round_order(run_.options.rounds, run_.options.seed);
    try {
      const Taken taken = take_rounds_until_quiet(order, all);
      run_.result.rounds = all.base.size();
      if (taken == Taken::all) decide(all);
      if (taken == Taken::out_of_time)
        run_.result.refusals.push_back(fmt::format(
            "{} of the first {} rounds took {}, so that they do not all fit into the time limit of "
            "{}: raise --time-limit, or measure less",
            all.base.size() + all.head.size(), order.size(), format_time(run_.source.elapsed_s()),
            format_time(run_.options.time_limit_s)));
    } catch (const RoundFailed& failed) {
      if (!head_never_works(all)) throw;
      miss_all(all, failed);
    }
    run_.result.elapsed_s = run_.source.elapsed_s();
    return std::move(run_.result);
  }

 private:
  /// Rounds that were disturbed are taken anew while there is time for as many once more and for
  /// fresh ones after them.
  Taken take_rounds_until_quiet(const std::vector<Side>& order, Rounds& all) {
    std::size_t discarded = 0;
    Taken taken{};
    while (true) {
      const double began_s = run_.source.elapsed_s();
      taken = take_rounds(run_, order, {}, 0, all);
      const double took_s = run_.source.elapsed_s() - began_s;
      if (taken != Taken::all || !run_.options.replace_disturbed ||
          run_.source.elapsed_s() + 2 * took_s > run_.options.time_limit_s ||
          disturbance_of(all, series_of(all.base, all.head)).empty())
        break;
      all = {};
      ++discarded;
      round_began_s_ = run_.source.elapsed_s();
    }
    if (discarded > 0)
      run_.result.notes.push_back(
          fmt::format("{} disturbed, and measured again",
                      counted(discarded, "set of first rounds was", "sets of first rounds were")));
    return taken;
  }

  /// Whether a round failed by the head's own fault: it fails again although the base,
  /// in a round between, does not. Its rounds are added.
  bool head_never_works(Rounds& all) {
    if (!all.head.empty()) return false;
    // As long as the base's round took, the head's may.
    const auto fits = [&](double round_s) {
      return run_.source.elapsed_s() + round_s <= run_.options.time_limit_s;
    };
    const auto works = [&](Side side) {
      try {
        (side == Side::base ? all.base : all.head).push_back(run_.source.round(side, {}));
        return true;
      } catch (const RoundFailed&) {
        return false;
      }
    };
    const double began_s = run_.source.elapsed_s();
    return fits(2 * began_s / (static_cast<double>(all.base.size()) + 1)) && works(Side::base) &&
           fits(run_.source.elapsed_s() - began_s) && !works(Side::head);
  }

  void miss_all(const Rounds& all, const RoundFailed& failed) {
    run_.result.notes.push_back("the head failed again after a round of --base that did not");
    for (const MetricSeries& series : series_of(all.base, {}, run_.rules)) {
      MetricDecision& decision = run_.result.metrics.emplace_back(first_decision(series));
      if (decision.outcome == Outcome::missing)
        decision.reason = fmt::format("the head's rounds fail: {}", failed.what());
    }
  }

  void decide(const Rounds& all) {
    series_ = series_of(all.base, all.head, run_.rules);
    const double round_s = (run_.source.elapsed_s() - round_began_s_) /
                           (2.0 * static_cast<double>(run_.result.rounds));
    const double spread = usual_spread(series_), first = static_cast<double>(run_.result.rounds);
    usual_noise_ = spread * std::sqrt(2 / first);
    const int fresh = rounds_against_noise(
        std::max(run_.options.confirmation_rounds, confirmation_rounds_for(1)), spread);
    noise_of_fresh_ = std::sqrt(first / fresh);
    for (const MetricSeries& series : series_) {
      MetricDecision& decision = run_.result.metrics.emplace_back(first_decision(series));
      // One that is there now and then is no metric that could be compared.
      if (decision.outcome == Outcome::unchanged)
        decide_if_rounds_lack(series, run_.result.rounds, false, decision);
      screen(series, decision);
    }
    if (stop_if_disturbed(all)) return;
    for (auto* group : {&found_.suspects, &found_.improvements})
      std::stable_sort(group->begin(), group->end(), worst_first);
    found_.improvements.resize(std::min(found_.improvements.size(), improvements_shown));
    choose_controls();
    const double overhead_s = overhead_of(round_s);
    confirm(run_, std::move(found_), all, overhead_s);
    if (exit_code(run_.result) != ExitCode::ok) return;
    if (std::string words = what_would_pass(run_.result); !words.empty())
      run_.result.notes.push_back(std::move(words));
  }

  /// What a round takes beside measuring; all of it where no round can leave anything out.
  double overhead_of(double round_s) {
    if (!run_.source.can_select()) {
      for (auto* group : found_.groups())
        for (Candidate& candidate : *group) candidate.elapsed_s = 0;
      return round_s;
    }
    double measuring = 0;
    for (const MetricSeries& series : series_) measuring += elapsed_of(series);
    return std::max(0.0, round_s - measuring);
  }

  static double elapsed_of(const MetricSeries& series) {
    return series.base.empty() ? 0 : series.base.front().elapsed_s;
  }

  void screen(const MetricSeries& series, MetricDecision& decision) {
    if (decision.outcome != Outcome::unchanged) return;
    Evidence& evidence = decision.evidence.emplace(evidence_of_rounds(series));
    const double counts = evidence.least, elapsed_s = elapsed_of(series);
    const std::size_t index = run_.result.metrics.size() - 1;
    const double severity = evidence.worse / std::max(counts, 1e-300);
    // Where all metrics are noisy, what they have in common is surer than four values of one.
    const bool noisy = evidence.relative && noise_factor * usual_noise_ > counts;
    const double noise =
        noisy ? std::min(evidence.noise_floor, usual_noise_) : evidence.noise_floor;
    // A slowdown that is to be found is a suspect now, and beyond the noise of the fresh rounds.
    evidence.threshold =
        std::max({counts, noise, noise_factor * noise_of_fresh_ * evidence.noise_floor});
    if (looks_worse(evidence) && evidence.worse > noise)
      found_.suspects.push_back({index, severity, elapsed_s});
    else if (-evidence.worse > std::max(counts, evidence.noise_floor))
      found_.improvements.push_back({index, -severity, elapsed_s});
    else if (evidence.relative)
      found_.controls.push_back({index, -noise_factor * evidence.noise_floor / counts, elapsed_s});
  }

  /// A few of all kinds, since a load may leave one kind alone: evenly over the run's order, in
  /// which like stands beside like, those whose noise is below what counts; only where these are
  /// too few, the least noisy of the others as well.
  void choose_controls() {
    std::vector<Candidate>& controls = found_.controls;
    const auto quiet = [](const Candidate& control) { return control.severity >= -1; };
    std::stable_partition(controls.begin(), controls.end(), quiet);
    const auto noisy = std::find_if_not(controls.begin(), controls.end(), quiet);
    std::stable_sort(noisy, controls.end(), worst_first);
    const auto enough =
        std::max<std::size_t>(static_cast<std::size_t>(noisy - controls.begin()), controls_wanted);
    controls.resize(std::min(controls.size(), enough));
    if (controls.size() <= controls_wanted) return;
    std::vector<Candidate> chosen;
    for (std::size_t i = 0; i < controls_wanted; ++i)
      chosen.push_back(controls[i * controls.size() / controls_wanted]);
    controls = std::move(chosen);
  }

  /// Where the first rounds were disturbed, the fresh ones would look for the wrong suspects.
  bool stop_if_disturbed(const Rounds& all) {
    const std::string why = disturbance_of(all, series_);
    if (why.empty()) return false;
    run_.result.refusals.push_back(why + ": the machine was disturbed, measure again");
    for (const Candidate& suspect : found_.suspects) {
      MetricDecision& decision = run_.result.metrics[suspect.index];
      decision.decide(Outcome::inconclusive,
                      fmt::format("it looked worse by {}, but the machine was disturbed.",
                                  change_words(decision)));
    }
    return true;
  }

  PairedRun run_;
  std::vector<MetricSeries> series_;
  Candidates found_;
  double usual_noise_ = 0;    ///< the noise floor of a metric as most are
  double noise_of_fresh_ = 1;  ///< of one suspect's fresh rounds, in noise floors of the first ones
  double round_began_s_ = 0;  ///< when the first rounds that count did
};

}  // namespace

std::vector<Side> round_order(int rounds, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<Side> order;
  for (int block = 0; block < 2 * rounds / rounds_of_block; ++block) {
    const bool base_first = (generator() >> 63) == 0;
    const Side outer = base_first ? Side::base : Side::head;
    const Side inner = base_first ? Side::head : Side::base;
    order.insert(order.end(), {outer, inner, inner, outer});
  }
  return order;
}

CheckResult check_paired(RoundSource& source, const PairedOptions& options, const Rules& rules) {
  return PairedCheck({source, options, rules}).check();
}

}  // namespace fathom::gate
