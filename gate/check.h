#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gate/decision.h"
#include "gate/run_metrics.h"
#include "results/document.h"
#include "results/error.h"

namespace fathom::gate {

enum class Side { base, head };
FATHOM_WORDS(Side, "base", "head")

/// Where rounds come from: two commands, or a simulation of them.
class RoundSource {
 public:
  virtual ~RoundSource() = default;
  /// One round in a process of its own: all metrics, or at least those named in `only`. Throws
  /// Error(inconclusive) where it failed, by its own fault or the machine's.
  virtual RunMetrics round(Side side, const std::vector<std::string>& only) = 0;
  /// Seconds since the beginning.
  virtual double elapsed_s() const = 0;
  /// Whether `only` saves time.
  virtual bool can_select() const = 0;
};

struct PairedOptions {
  double time_limit_s = 180;      ///< of the check: no round begins that would pass it
  std::uint64_t seed = 1;         ///< of the order of the rounds
  bool replace_disturbed = true;  ///< rounds, as far as the time goes; else they end the check
};

/// Rounds of both sides in a block.
inline constexpr std::size_t rounds_of_block = 4;

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

/// The order of `rounds` (even) rounds per side: blocks of A B B A or B A A B, by the toss of a
/// coin, in which a steady drift cancels.
std::vector<Side> round_order(std::size_t rounds, std::uint64_t seed);

/// Fresh rounds per side, even, 6 to 20: so many that the rank test can be sure of one of
/// `suspects` metrics, and that three times the noise of rounds that differ by `spread` does not
/// hide 2.5 %.
std::size_t confirmation_rounds_for(std::size_t suspects, double spread = 0);

/// Compares two sides, as docs/gate/method.md says under "Paired". Throws what a failed round
/// throws, unless all rounds of the head fail.
CheckResult check_paired(RoundSource& source, const PairedOptions& options, const Rules& rules);

/// Fewer earlier runs than these say nothing about how runs differ by themselves.
inline constexpr std::size_t fewest_baseline_runs = 5;

/// Compares new runs, one or several of the same thing, with earlier ones of the same identity, the
/// oldest first, by ranks of whole runs (gate/ranks.h), what moves all metrics alike taken out.
/// Where that moved itself, the check is inconclusive; so is what looks worse where so few results
/// cannot be sure. A metric that fewer than `fewest_baseline_runs` have is not decided; one that
/// most of the last five have and the new runs lack is missing.
CheckResult check_stored(std::span<const RunMetrics> baseline, std::span<const RunMetrics> head,
                         const Rules& rules);

/// Why a baseline without any run of this identity says nothing: how the identity that comes
/// closest differs. `others`, not empty, has one run of each identity there is.
std::vector<std::string> why_none_like(const RunMetrics& run,
                                       const std::vector<RunMetrics>& others);

/// Takes out of the baseline what is one of these results itself, added before it was checked: of
/// the same date and values. Returns how many.
std::size_t leave_out_themselves(std::vector<RunMetrics>& baseline,
                                 std::span<const RunMetrics> head);

// What a check found, for whoever reads it.

/// For a terminal: the headline, every metric that is not simply unchanged, and what was refused.
std::string terminal_table(const CheckResult& result);

/// The same as GitHub's Markdown, for a step's summary or a comment; unchanged metrics folded away.
std::string markdown_summary(const CheckResult& result);

/// GitHub's workflow commands, one a line: errors for regressions, missing metrics and what ended
/// the check, warnings for what is inconclusive, notices for improvements. GitHub shows ten of a
/// kind.
std::string github_annotations(const CheckResult& result);

/// JUnit's XML as CI servers read it: a test case a metric; regressions and missing metrics failed,
/// inconclusive ones, refusals and what ended the check are errors, ignored ones skipped.
std::string junit_xml(const CheckResult& result);

/// Everything, as JSON.
std::string decision_json(const CheckResult& result);

/// Text of a document for a line of a terminal, which may be that of a CI job's log: no line break,
/// nothing that a terminal obeys, and nothing that a CI server takes for a command: "::error ..."
/// at the start of a line (GitHub), "##[...]" and "##vso[...]" anywhere (GitHub, Azure).
std::string log_text(std::string_view text);

/// A sentence without line breaks on one metric: "copy_bandwidth/...: 4.286 TB/s to 4.153 TB/s
/// (-3.1 %): worse by ...".
std::string one_line(const MetricDecision& metric);

/// "-3.1 %", "+2 %"; empty where it has no meaning.
std::string change_text(const MetricDecision& metric);

}  // namespace fathom::gate
