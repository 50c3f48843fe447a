#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/card_check.h"
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

/// Whether their metrics have one name and unit.
bool have_one_metric(const Entry& a, const Entry& b);

/// A status that makes a run fail: what was measured is wrong, or the measurement is.
bool is_failure(VerdictStatus status);

/// How many entries have each verdict.
class VerdictTally {
 public:
  explicit VerdictTally(const EntryList& entries);
  std::size_t of(VerdictStatus status) const {
    return counts_.at(static_cast<std::size_t>(status));
  }
  std::size_t failures() const { return from(VerdictStatus::counter_mismatch); }
  std::size_t all() const { return from(VerdictStatus::ok); }
  /// "1 wrong output, 2 noisy": worst first, ok last and only with `with_ok`; empty for none.
  std::string text(bool with_ok) const;

 private:
  std::size_t from(VerdictStatus first) const;  ///< those and worse ones
  std::array<std::size_t, 7> counts_{};
};

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

/// What the sections of a report are written from and to.
struct PageContext {
  const Document& document;
  Page& page;
  std::string document_name;
  const CardCheck* card = nullptr;  ///< null: not checked
};

// The report's sections, in its order. Each writes its own heading.

void write_title(PageContext& to);
/// What a replay's page says first, and the line under the title: when, what, how long.
void write_origin(PageContext& to);
void write_verdict(PageContext& to);
/// How many counters are as expected, which is furthest from that, and why some are missing; empty
/// where none was asked for.
std::string counters_sentence(const EntryList& entries);
void write_environment(PageContext& to);
void write_bounds(PageContext& to);
void write_opponents(PageContext& to);
/// Nothing, not even a heading, where the document has no facts; where it has an atlas, the way
/// there.
void write_facts(PageContext& to);
void write_probes(PageContext& to);
/// The probe's views of that section: `whole`, all its tables; otherwise those alone that compare
/// it with others. The HTML page has the rest.
void write_views(PageContext& to, const ProbeSummary& probe, const std::string& section,
                 bool whole);
/// Its state in the HTML page.
std::string explore_probe(const std::string& probe, const std::string& section = "");
void write_claims(PageContext& to);
void write_method(PageContext& to);

/// The page of the memory hierarchy, which stands for itself; see has_atlas.
void write_atlas(PageContext& to);

/// Sections of the probe's views that have a page of their own, and the page's name beside the
/// report's README.md: "ladder-fp32.md".
std::vector<std::string> pages_of(const Document& document, const ProbeSummary& probe);
std::string page_file(const ProbeSummary& probe, const std::string& section);
void write_probe_page(PageContext& to, const ProbeSummary& probe, const std::string& section);

/// "NVIDIA H200", Markdown.
std::string gpu_title(const Document& document);

/// What a reader must know before any figure, one item each: why probes, or the `only` one, are not
/// complete, warnings and notes.
void add_state(const PageContext& to, const ProbeSummary* only, std::vector<std::string>& items);
/// "**2 entries failed a check** (which).", with a link into the report; nothing for none.
void add_failures(const VerdictTally& verdicts, const std::string& anchor,
                  std::vector<std::string>& items);

/// The entry's page in the HTML page; `text` is Markdown.
std::string entry_link(const Entry& entry, const std::string& text = "entry");

/// Where a probe's own section is.
std::string probe_anchor(const std::string& probe);

/// A column of a table, before it is Markdown.
struct Column {
  std::string name, unit;  ///< plain text; the header is "name (unit)"
  bool is_text = false;
  std::vector<std::string> cells{};  ///< Markdown
};

/// The column of a view: an axis, or one of the words of View::columns. `levels` are the view's.
Column make_column(const std::string& name, const EntryList& entries,
                   const std::vector<PlotLevel>& levels = {});

/// The table of columns; those that have one and the same cell in all of at least two rows are left
/// out and told instead, in `constant`: "block: 256 · verdict: ok" (Markdown).
Table make_table(const std::vector<Column>& columns, std::string& constant);

/// Entries that a view shows.
EntryList shown_by(const View& view, const EntryList& entries);

}  // namespace fathom::reports
