#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "gate/disturbance.h"
#include "gate/paired.h"

namespace fathom::gate {

// The fresh rounds of a paired check, which alone decide.

/// What a check works with; `result` is what it has found so far.
struct PairedRun {
  RoundSource& source;
  const PairedOptions& options;
  const Rules& rules;
  CheckResult result{};

  double left_s() const { return options.time_limit_s - source.elapsed_s(); }
};

/// A metric that they measure.
struct Candidate {
  std::size_t index;     ///< among the decisions
  double severity;       ///< how many times what counts it looked worse; of an improvement, better
  double elapsed_s{};    ///< what measuring it adds to a round
  std::size_t rounds{};  ///< per side, that were to measure it
};

struct Candidates {
  std::vector<Candidate> suspects, improvements;  ///< the worst, the best first
  std::vector<Candidate> controls;                ///< that did not change
  std::array<std::vector<Candidate>*, 3> groups() { return {&suspects, &improvements, &controls}; }
};

enum class Taken { all, not_comparable, out_of_time };

/// So many rounds a side, and more where rounds differ by so much that three times the noise of so
/// few would hide 2.5 %.
int rounds_against_noise(int rounds, double usual_spread);

/// Takes rounds in this order, which are of use only together: until the sides turn out not to be
/// comparable, and then the result says why; or until the next one would pass the time limit if it
/// took as long as the longest so far, or all that are left if they took as long as the shortest.
/// `expected_s` is of a round; 0: none was seen yet.
Taken take_rounds(PairedRun& run, std::span<const Side> order, const std::vector<std::string>& only,
                  double expected_s, Rounds& to);

/// Measures candidates anew, in blocks of A B B A, and decides them in the result. After each block
/// those that no further round can confirm are measured no longer, which spares most of the time
/// where nothing changed; none is ever confirmed early, so that the test stays what it is. Where
/// the machine was disturbed they are taken anew, while there is time for as many. No round is
/// begun that would pass the time limit: the suspects that looked least worse give way first, and
/// what is not settled then is inconclusive. `before`: the rounds that chose the candidates, which
/// took `overhead_s` each beside measuring.
void confirm(PairedRun& run, Candidates candidates, const Rounds& before, double overhead_s);

}  // namespace fathom::gate
