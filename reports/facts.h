#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/markdown.h"
#include "results/document.h"

namespace fathom::reports {

// What report and terminal conclude from a document's entries, whatever probe they are from.

using EntryList = std::vector<const Entry*>;

/// All entries, or the probe's, in document order.
EntryList entries_of(const Document& document);
EntryList entries_of(const Document& document, const std::string& probe);

/// The probes that a document knows of, in its order; one that has entries and no summary gets an
/// empty summary.
std::vector<ProbeSummary> probes_of(const Document& document);

/// Empty where the entry has no such note.
std::string note_of(const Entry& entry, const std::string& name);

/// "above bound", "does not apply", ...: the document's words for people.
template <typename Enum>
std::string words(Enum value) {
  return spaced(std::string(to_string(value)));
}

/// A status that makes a run fail: what was measured is wrong, or the measurement is.
bool is_failure(VerdictStatus status);

/// How many entries have each verdict.
class VerdictTally {
 public:
  void add(VerdictStatus status) { ++counts_.at(static_cast<std::size_t>(status)); }
  std::size_t of(VerdictStatus status) const {
    return counts_.at(static_cast<std::size_t>(status));
  }
  std::size_t failures() const;
  std::size_t all() const;
  /// "1 wrong output, 2 noisy": worst first, ok last and only with `with_ok`; empty for none.
  std::string text(bool with_ok) const;

 private:
  std::array<std::size_t, 7> counts_{};
};

VerdictTally tally(const EntryList& entries);

/// One sentence on the whole run.
std::string headline(const Document& document);

/// One metric of a probe: the measured entry that comes closest to its bound. Entries whose figure
/// cannot be trusted (a failure by their verdict) are none.
EntryList closest_to_bound(const EntryList& entries);

/// The best figure of the first metric of a probe, whether or not it has a bound; null for none.
const Entry* best_figure(const EntryList& entries);

/// The figure closest to its bound, or the best where there are no bounds: among the entries of the
/// probe's first view, which is what its answer is about, and of all only where that has none. Null
/// where there is no figure.
const Entry* headline_entry(const ProbeSummary& probe, const EntryList& entries);

/// Value over bound, or bound over value where lower is better: 1 is all that physics allows.
/// Nothing without either.
std::optional<double> share_of_bound(const Entry& entry);
std::optional<double> share_of_bound(const Fact& fact);

/// "2 confirmed, 1 refuted"; empty for no claims.
std::string claims_text(std::span<const Claim> claims);

/// "2 of 3 entries", "1 of 1 entry".
std::string share_text(std::size_t part, std::size_t all, const std::string& one,
                       const std::string& many);

using FactList = std::vector<const Fact*>;

/// Whether its confidence is 80 % or more: one of less cannot be told from the range of its few
/// samples.
bool is_confident(const std::optional<Interval>& interval);

/// The interval of a ratio of two figures above zero that were measured one after the other: from
/// the ends of both.
Interval ratio_interval(const Interval& over, const Interval& under);

/// " ± 1.2 %": how far the interval's farther end is from the value, with decimals below 10 %.
/// Empty where there is nothing to divide by.
std::string reach_of(double value, const Interval& interval, int decimals = 1);

/// What tables of facts refer to: sources by number, each spelled out once, and noisy entries.
class Notes {
 public:
  Notes() = default;
  explicit Notes(const Document& document);
  /// Whether any of these entries, by name, is noisy.
  bool is_noisy(const std::vector<std::string>& evidence) const;
  /// "\[2\]", Markdown. The same text has the same number.
  std::string mark(const std::string& text);
  /// Each with its number, Markdown.
  std::vector<std::string> list() const;

 private:
  std::vector<std::string> texts_;
  std::set<std::string_view> noisy_;  ///< names in the document, which must live as long
};

/// A row for each fact: its value with its interval, and where any of the rows has one the share of
/// its bound and the published figure.
Table fact_table(const FactList& facts, Notes& notes);

/// The levels of memory of which the document knows a figure, the one nearest to the cores first:
/// its facts `<level>.size` (beside it of what), `<level>.latency` (beside it
/// `<level>.latency_time`) and `<level>.bandwidth` (beside it `<level>.bytes_per_clock`, of one
/// SM).
Table hierarchy(const Document& document);

/// The facts that the hierarchy shows.
std::vector<const Fact*> level_facts(const Document& document);

/// The page's name, beside the report's README.md.
inline constexpr const char* atlas_file = "atlas.md";

/// Whether the document states enough of the hierarchy for a picture and a page of its own.
bool has_atlas(const Document& document);

/// One thing that a result document says of GPU, software or state.
struct MachineProperty {
  std::string name;
  std::string text;  ///< four significant digits; empty: unknown
};

/// In reading order, the GPU first.
std::vector<MachineProperty> machine_properties(const Fingerprint& fingerprint);

}  // namespace fathom::reports
