#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gate/decision.h"
#include "gate/paired.h"

namespace fathom::gate {

/// The rounds of both sides.
struct Rounds {
  std::vector<RunMetrics> base, head;
  std::vector<RunMetrics>& of(Side side) { return side == Side::base ? base : head; }
};

/// The first sign, in words, that something else used the machine while rounds ran; empty if there
/// is none. Then they decide nothing: it may be what became slower, and may hide what did. The
/// signs, each above 1 %, the last two also above what the rounds' own noise explains:
///   - another process used the GPU in some rounds only: one that was always there hit both sides;
///   - what one process measured several times differed, in the median over its metrics;
///   - the rounds of one side differ as a whole, by the mid-hinge over the metrics: a load may slow
///     a third of them, and the median would not move;
///   - of fresh rounds, which follow those `before`: at least two of the metrics differ between the
///     sides. `series` are then of those that had not changed.
/// Fewer than five metrics cannot tell noise of one from a disturbance of all.
std::string disturbance_of(const Rounds& rounds, const std::vector<MetricSeries>& series,
                           const Rounds* before = nullptr);

/// Takes the rounds of a check while there is time.
struct RoundTaker {
  RoundSource& source;
  const PairedOptions& options;
  std::vector<std::string>& refusals;  ///< why the sides cannot be compared
  double took_s = 0;                   ///< what the last set of rounds took
  std::size_t discarded = 0;           ///< sets of rounds that were disturbed, and taken anew

  double left_s() const { return options.time_limit_s - source.elapsed_s(); }

  /// Takes rounds in this order, which are of use only together, and returns whether it has them
  /// all. It stops where the sides turn out not to be comparable, and then `refusals` say why; and
  /// where the next one would pass the time limit if it took as long as the longest so far, or all
  /// that are left if they took as long as the shortest. `expected_s` is of a round; 0: none was
  /// seen yet.
  bool take(std::span<const Side> order, const std::vector<std::string>& only, double expected_s,
            Rounds& to);

  /// Takes a set of rounds, and anew while it is not quiet and there is time for `times` as long.
  /// Returns what `take_set` does.
  bool take_until_quiet(Rounds& rounds, double times, const std::function<bool()>& take_set,
                        const std::function<bool()>& is_quiet);

  /// Whether one of the first rounds failed by the head's own fault: it fails again although the
  /// base, in a round between, does not. Its rounds are added.
  bool head_never_works(Rounds& first);
};

enum class Role { suspect, improvement, control };  ///< a control had not changed

/// A metric that fresh rounds measure.
struct Candidate {
  Role role;
  MetricDecision* decision;
  double severity;         ///< how many times what counts it looked worse or better
  double elapsed_s;        ///< what measuring it adds to a round
  std::string looked;      ///< how much worse or better the first rounds found it
  bool open = true;        ///< to be measured further
  std::size_t rounds = 0;  ///< per side, that were to measure it
  std::string no_time{};   ///< why a suspect was not measured as often as it takes
  MetricSeries fresh{};    ///< the fresh rounds' values; of an improvement better is worse in it
};

/// Decides a metric that not all `rounds` of a side have, and returns whether that is so. `kind`:
/// "rounds", "fresh rounds".
bool decide_if_rounds_lack(const MetricSeries& series, std::size_t rounds, const char* kind,
                           MetricDecision& decision);

/// Whether all rounds that were to measure it did, and it is to be judged; if they did not, that is
/// what is decided.
bool was_measured(const Candidate& one);

/// Decides it on the evidence of fresh rounds: a suspect is a regression, inconclusive (too noisy,
/// the clock moved, the machine was `disturbed`) or unchanged; what is none may have become better.
void judge(const Candidate& one, const std::string& disturbed);

}  // namespace fathom::gate
