#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gate/decision.h"
#include "gate/paired.h"

namespace fathom::gate {

// The rounds of a paired check. Fresh ones alone decide.

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

/// What a check works with; `result` is what it has found so far.
struct PairedRun {
  RoundSource& source;
  const PairedOptions& options;
  const Rules& rules;
  CheckResult result{};
  double usual_spread = 0;    ///< from round to round, of a metric as most are
  double took_s = 0;          ///< what the last set of rounds took
  std::size_t discarded = 0;  ///< sets of rounds that were disturbed, and taken anew

  double left_s() const { return options.time_limit_s - source.elapsed_s(); }

  /// Takes rounds in this order, which are of use only together, and returns whether it has them
  /// all. It stops where the sides turn out not to be comparable, and then the result says why; and
  /// where the next one would pass the time limit if it took as long as the longest so far, or all
  /// that are left if they took as long as the shortest. `expected_s` is of a round; 0: none was
  /// seen yet.
  bool take_rounds(std::span<const Side> order, const std::vector<std::string>& only,
                   double expected_s, Rounds& to);

  /// Takes a set of rounds, and anew while it is not quiet and there is time for `times` as long.
  /// Returns what `take` does.
  bool take_until_quiet(Rounds& rounds, double times, const std::function<bool()>& take,
                        const std::function<bool()>& is_quiet);
};

/// A metric that fresh rounds measure.
struct Candidate {
  enum class Role { suspect, improvement, control };  ///< a control had not changed
  Role role = Role::control;
  std::size_t index = 0;  ///< among the decisions
  double severity = 0;    ///< how many times what counts it looked worse; of an improvement, better
  double elapsed_s{};     ///< what measuring it adds to a round
  bool open = true;       ///< to be measured further
  std::size_t rounds{};   ///< per side, that were to measure it
  std::string looked{};   ///< how much worse or better the first rounds found it
  std::string no_time{};  ///< why a suspect was not measured as often as it takes
};

/// Decides a metric that not all `rounds` of a side have, and returns whether that is so. `kind`:
/// "rounds", "fresh rounds".
bool decide_if_rounds_lack(const MetricSeries& series, std::size_t rounds, const char* kind,
                           MetricDecision& decision);

/// Measures candidates anew, in blocks of A B B A, and decides them in the result. They come by
/// role, of each the most severe first. What no further round can confirm is dropped after each
/// block, which spares most of the time where nothing changed; none is ever confirmed early, so
/// that the test stays what it is. Rounds that were disturbed are taken anew, while there is time.
/// None is begun that would pass the time limit: the suspects that looked least worse give way
/// first, and what is not settled then is inconclusive. `before`: the rounds that chose the
/// candidates, which took `overhead_s` each beside measuring.
void confirm(PairedRun& run, std::vector<Candidate> candidates, const Rounds& before,
             double overhead_s);

}  // namespace fathom::gate
