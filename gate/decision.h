#pragma once

#include <fnmatch.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gate/run_metrics.h"
#include "results/document.h"
#include "results/error.h"

namespace fathom::gate {

/// What a user decided about some metrics, and why.
struct Rule {
  std::string pattern;  ///< of names, as a shell's: * ? [abc]
  bool ignore = false;
  std::optional<double> threshold;  ///< least effect that counts, relative: 0.03 is 3 %
  std::string reason;               ///< never empty
};

/// In the order of the file; of several that match a metric the first counts.
using Rules = std::vector<Rule>;

/// Reads rules from TOML (docs/gate.md, "Rules"). Throws Error(bad_input) naming `origin`, the line
/// and what was expected.
Rules parse_rules(std::string_view toml, const std::string& origin);
Rules read_rules(const std::filesystem::path& path);

/// Null where no rule matches.
inline const Rule* find_rule(const Rules& rules, const std::string& metric) {
  for (const Rule& rule : rules)
    if (fnmatch(rule.pattern.c_str(), metric.c_str(), 0) == 0) return &rule;
  return nullptr;
}

/// What the gate says of one metric. What is undecided fails nothing: it may have become better, or
/// moved with all the others, so that it cannot be called unchanged.
enum class Outcome {
  unchanged,
  improved,
  regression,
  inconclusive,
  missing,
  added,
  ignored,
  undecided
};
FATHOM_WORDS(Outcome, "unchanged", "improved", "regression", "inconclusive", "missing", "added",
             "ignored", "undecided")

// How sure the gate wants to be. Effects are relative: 0.01 is 1 %.
inline constexpr double effect_that_counts = 0.01;  ///< smaller changes never fail
inline constexpr double noise_factor = 3;  ///< nor those below so many times the metric's noise
/// Probability of a false alarm in a whole suite of a paired check, by Holm's procedure. Half of
/// the promised 1 %, since ranks of rounds that drift are not quite exchangeable.
inline constexpr double paired_alpha = 0.005;
inline constexpr double stored_alpha = 0.02;  ///< the same against earlier runs, by ranks
inline constexpr double interval_confidence = 0.95;

/// One metric's rounds or runs: how much worse head is than base, on the scale of logarithms where
/// all values are above zero, else in the metric's unit; and how sure that is.
struct Evidence {
  bool relative = true;  ///< logarithms
  double worse_by = 0;   ///< Hodges-Lehmann estimate; above zero: worse
  Interval interval{};   ///< of it
  /// How far head and base differ by chance, as a standard deviation: of that many rounds, or of a
  /// single run from the earlier ones.
  double noise_floor = 0;
  double least = 0;      ///< the effect that counts, on this scale
  double threshold = 0;  ///< the least `worse_by` that is no noise; below it a slowdown passes
  /// That it is no worse than half of `least`, over all metrics by Holm's procedure where fresh
  /// rounds decide; or than unchanged runs, by ranks.
  double p = 1;

  /// By what counts, and by half of it, which is worth another look.
  bool is_worse() const { return worse_by > 0 && worse_by >= least; }
  bool looks_worse() const { return worse_by > 0.5 * least; }
};

struct MetricDecision {
  std::string name, unit;
  Better better = Better::lower;
  Outcome outcome = Outcome::unchanged;
  std::optional<double> base{}, head{};  ///< medians, in the metric's unit
  std::size_t base_runs = 0, head_runs = 0;
  std::optional<Evidence> evidence{};
  bool repeated = false;  ///< decided on fresh rounds
  std::string reason{};   ///< why it is not simply unchanged; one sentence
  std::string rule{};     ///< the reason that the user's rule for it gives

  void decide(Outcome what, std::string why) {
    outcome = what;
    reason = std::move(why);
  }
};

/// What `fathom check` found.
struct CheckResult {
  std::string mode;            ///< "paired" or "stored"
  std::string base{}, head{};  ///< commands, or files and folder
  std::string date{};          ///< ISO 8601, of the check
  std::vector<MetricDecision> metrics{};
  std::vector<std::string> refusals{};  ///< why they cannot be compared, or nothing be decided
  /// What ended the check before it decided anything: bad input, an interrupt; `refusals` say why.
  std::optional<ExitCode> ended{};
  std::vector<std::string> notes{};
  std::size_t rounds = 0, confirmation_rounds = 0;  ///< per side
  double elapsed_s = 0;
  double alpha = paired_alpha;
};

/// The interval of how the metric's value changed, relative; nothing without evidence on the scale
/// of logarithms.
std::optional<Interval> change_interval(const MetricDecision& decision);

/// The one figure that all outputs give for a metric's change, negative where its value fell: the
/// Hodges-Lehmann estimate, else the ratio of the medians; nothing where neither has a meaning.
std::optional<double> change_of(const MetricDecision& decision);

/// Those of one outcome, the largest change first.
std::vector<const MetricDecision*> with_outcome(const CheckResult& result, Outcome outcome);
inline std::size_t count(const CheckResult& result, Outcome outcome) {
  return with_outcome(result, outcome).size();
}

/// Below which slowdown half of the metrics and the noisiest pass, by their thresholds; empty where
/// none has one on the scale of logarithms.
std::string what_would_pass(const CheckResult& result);

/// Why there is no decision on the whole, if there is none: the refusals, or nothing was compared.
std::vector<std::string> why_undecided(const CheckResult& result);

/// What ended it; else 1 for a regression, else 4 for a missing metric, else 3 for anything
/// inconclusive or refused and where nothing was compared, else 0.
ExitCode exit_code(const CheckResult& result);

/// One sentence for the whole: what the exit code means here.
std::string headline(const CheckResult& result);

// What both modes share on the way to a verdict.

/// One metric's values over the rounds or runs of both sides; the values that may be used.
struct MetricSeries {
  std::string name, unit;
  Better better = Better::lower;
  std::vector<MetricValue> base{}, head{};
  std::string problem{};    ///< why a value of the head must not be used
  std::string redefined{};  ///< what it became, where unit or direction is not the same throughout
  std::vector<std::size_t> base_runs{};  ///< of which run each of the base's values is
  const Rule* rule = nullptr;            ///< the user's for it; null: none
};

/// All metrics of all runs, in the order in which they are first met: the base's runs first.
/// `rules` outlive them.
std::vector<MetricSeries> series_of(std::span<const RunMetrics> base,
                                    std::span<const RunMetrics> head, const Rules& rules = {});

/// The values so that larger is worse: logarithms where every value of both sides is above zero,
/// else the values themselves (a count of errors that was 0).
struct OrientedSamples {
  bool relative = true;
  std::vector<double> base, head;
  double least = 0;  ///< the effect that counts, on this scale

  /// Standard deviation around the median of the own side, both sides together, by the median
  /// absolute deviation: a single bad round does not move it. Zero for fewer than four values.
  double spread() const;
  /// How far the sides differ by chance: the standard error of a difference of two means.
  double noise_floor() const;
};
OrientedSamples oriented(const MetricSeries& series);

/// The median of the metrics' spreads from round to round; 0 where none has any.
double usual_spread_of(const std::vector<MetricSeries>& series);

/// The rank test for rounds that took turns, of a hypothesis that ends at half of the effect that
/// counts: a smaller change is flagged no more often than none. Needs a value on each side.
Evidence evidence_of_rounds(const MetricSeries& series);

/// The smallest p-value that `more` further rounds a side can bring it to.
double least_p_with_more(const MetricSeries& series, std::size_t more);

/// Medians, and what is decided without any statistics: ignored, missing, added; else unchanged.
MetricDecision first_decision(const MetricSeries& series);

/// The medians alone, and of how many rounds or runs they are.
void take_values(const MetricSeries& series, MetricDecision& decision);

/// "3.1 %" (of the value), or the difference itself where there is no ratio; without a sign.
std::string change_words(const MetricDecision& decision);

/// Why a change, with its evidence, is not the program's: a clock moved, and in its cycles nothing
/// changed; or what holds it down changed, and it can have fallen by as much, or is not known.
/// Empty where the clocks do not explain it.
std::string clock_explanation(const MetricSeries& series, const Evidence& evidence);

}  // namespace fathom::gate
