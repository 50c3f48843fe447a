#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/scale.h"
#include "results/document.h"

namespace fathom::reports {

// What report and terminal conclude from a document's entries, whatever probe they are from.

using EntryList = std::vector<const Entry*>;

/// The probe's entries, in document order.
EntryList entries_of(const Document& document, const std::string& probe);

/// The probes that a document knows of, in its order; one that has entries and no summary gets an
/// empty summary.
std::vector<ProbeSummary> probes_of(const Document& document);

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
VerdictTally tally(const Document& document);

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
std::optional<double> share_of_bound(const Entry& entry);

/// "2 confirmed, 1 refuted"; empty for no claims.
std::string claims_text(std::span<const Claim> claims);

/// "2 of 3 entries", "1 of 1 entry".
std::string share_text(std::size_t part, std::size_t all, const std::string& one,
                       const std::string& many);

}  // namespace fathom::reports
