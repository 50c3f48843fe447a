#pragma once

#include <string>
#include <vector>

#include "gate/check.h"
#include "gate/decision.h"

namespace fathom::gate {

/// The rounds of both sides.
struct Rounds {
  std::vector<RunMetrics> base, head;
  std::vector<RunMetrics>& of(Side side) { return side == Side::base ? base : head; }
};

/// The first sign, in words, that something else used the machine while rounds ran; empty if there
/// is none. docs/gate/method.md has the signs under "Another load". The last one is of fresh
/// rounds, which follow those `before`: `series` are then of the metrics that had not changed.
std::string disturbance_of(const Rounds& rounds, const std::vector<MetricSeries>& series,
                           const Rounds* before = nullptr);

enum class Role { suspect, improvement, control };  ///< a control had not changed

/// A metric that fresh rounds measure.
struct Candidate {
  Role role = Role::control;
  MetricDecision* decision = nullptr;
  double severity = 0;     ///< how many times what counts it looked worse or better
  double elapsed_s = 0;    ///< what measuring it adds to a round
  std::string looked{};    ///< how much worse or better the first rounds found it
  bool open = true;        ///< to be measured further
  std::size_t rounds = 0;  ///< per side, that were to measure it
  std::string no_time{};   ///< why a suspect was not measured as often as it takes
  MetricSeries fresh{};    ///< the fresh rounds' values; of an improvement better is worse in it
};

/// Keeps a few controls of all kinds, since a load may leave one kind alone: evenly over the run's
/// order, in which like stands beside like. They are sorted by severity, quiet ones -1; those too
/// noisy for what counts (below -1) come last, and are among them only where the others are too
/// few.
void choose_controls(std::vector<Candidate>& controls);

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
