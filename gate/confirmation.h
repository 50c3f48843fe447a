#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "gate/disturbance.h"
#include "gate/paired.h"

namespace fathom::gate {

// The fresh rounds of a paired check, which alone decide.

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
};

enum class Taken { all, not_comparable, out_of_time };

struct RoundTime {
  double limit_s;         ///< since the beginning of the check
  double expected_s = 0;  ///< of a round; 0: none was seen yet
};

/// Takes rounds in this order, which are of use only together: until the sides turn out not to be
/// comparable, and then the result says why; or until the next one would pass the limit if it took
/// as long as the longest so far, or all that are left if they took as long as the shortest.
Taken take_rounds(RoundSource& source, std::span<const Side> order,
                  const std::vector<std::string>& only, RoundTime time, Rounds& to,
                  CheckResult& result);

/// Measures candidates anew, in blocks of A B B A, and decides them in `result`. After each block
/// those that no further round can confirm are settled and measured no longer, which spares most of
/// the time where nothing changed; none is ever confirmed early, so that the test stays what it is.
/// Where the machine was disturbed they are taken anew, as long as the time limit has room for as
/// many. No round is begun that would pass it: the suspects that looked least worse give way
/// first, and what is not settled then is inconclusive.
class Confirmation {
 public:
  /// `before`: the rounds that chose the candidates, which took `overhead_s` each beside measuring.
  Confirmation(RoundSource& source, const PairedOptions& options, const Rules& rules,
               const Rounds& before, double overhead_s, CheckResult& result)
      : source_(source),
        options_(options),
        rules_(rules),
        before_(before),
        overhead_s_(overhead_s),
        result_(result) {}

  void decide(Candidates candidates);

 private:
  /// A suspect for which there was no time.
  struct Late {
    std::size_t index, before_it;
    std::string change;
  };

  int all_rounds();
  int rounds_for_noise(int rounds) const;
  std::string disturbed() const;
  bool measure_until_quiet(int rounds);
  bool measure(int rounds);
  Taken measure_block(std::span<const Side> order);
  void settle(const std::vector<MetricSeries>& again, std::vector<Candidate>& open, bool better,
              std::size_t tests, std::size_t rounds_left);
  void leave_to_time(std::size_t rounds, std::size_t later);
  void leave_out_from(std::size_t first);
  void judge();
  bool was_measured(const Candidate& candidate, const MetricSeries* series, bool suspect);
  void tell_late();
  void tell_refused();
  std::vector<MetricSeries> found(const std::vector<MetricSeries>& again,
                                  const std::vector<Candidate>& candidates) const;
  double round_s(std::size_t suspects) const;
  MetricDecision& decision_of(const Candidate& candidate) const {
    return result_.metrics[candidate.index];
  }

  RoundSource& source_;
  const PairedOptions& options_;
  const Rules& rules_;
  const Rounds& before_;
  double overhead_s_;
  double pace_ = 1;  ///< seconds that the last rounds took, for each that was expected
  CheckResult& result_;
  Candidates all_;   ///< that fresh rounds measure
  Candidates open_;  ///< those of them that are not settled
  std::vector<Late> late_;
  std::size_t never_measured_ = 0;  ///< of those
  std::size_t discarded_ = 0;       ///< sets of rounds, since the machine was disturbed
  Rounds fresh_;
};

}  // namespace fathom::gate
