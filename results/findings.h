#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/document.h"
#include "results/statistics.h"

namespace fathom {

// Looking things up among entries: what probes conclude from and reports draw from.

using AxisFilter = std::vector<std::pair<std::string, AxisValue>>;

const AxisValue* find_axis(const Entry& entry, const std::string& name);
/// NaN for null and for a word.
double number_of(const AxisValue* value);
bool matches(const Entry& entry, const AxisFilter& filter);
/// Whether the view's `where` lets the entry in.
bool matches(const Entry& entry, const View& view);

/// Entries that have every axis of `filter` with its value, in document order.
std::vector<const Entry*> select(std::span<const Entry> entries, const AxisFilter& filter);

/// The first such entry that has a value, or null.
const Entry* find_measured(std::span<const Entry> entries, const AxisFilter& filter);

/// The entry with the best value of its metric, or null if none has a value. All must share a
/// metric.
const Entry* best(const std::vector<const Entry*>& entries);

/// The entries' curve over a numeric axis, x ascending; entries without a value or without the axis
/// are left out.
std::vector<CurvePoint> curve_of(const std::vector<const Entry*>& entries, const std::string& axis);

/// The first of its opponents with the largest value, or null if none has a value.
const Opponent* fastest_opponent(const Entry& entry);

const Counter* find_counter(const Entry& entry, const std::string& role);
std::optional<double> counter_value(const Entry& entry, const std::string& role);

/// The SM clock that the samples ran at: by the SMs' own counters where they were read, else the
/// median of NVML's readings, which lag behind bursts.
std::optional<double> sm_clock_of(const Entry& entry);

// Claims and facts as rows: which entries, which figure of them, which rule, which sentence. One
// evaluator decides them all, for a run as for a recording.

/// Why there is no entry, as most facts have it.
inline constexpr const char* left_out = "its cases were left out of this run or failed";

/// Two speeds of one run are the same where the slower has this share of the faster. Two cards of
/// one model differ by up to 4 % in the same entry (H200): less than 5 % is no difference that a
/// claim about GPUs could rest on.
inline constexpr double same_speed = 0.95;
/// That, as pages say it beside their claims.
std::string same_speed_sentence();

/// A number that an entry has, or NaN; a test is one too, 1 where it holds.
using Figure = std::function<double(const Entry&)>;
double metric_of(const Entry& entry);
bool is_measured(const Entry& entry);
/// Its ratio to the fastest of its opponents.
double ratio_to_opponents(const Entry& entry);
double fastest_opponent_of(const Entry& entry);
Figure counter_of(std::string role);
Figure extra_of(std::string name);
Figure axis_of(std::string name);
/// Whether its axis has one of these values.
bool is_any(const Entry& entry, const char* axis, const std::vector<const char*>& values);

/// Which of several entries speaks, or what all of them say together. best: by their metric.
/// median: of facts alone.
enum class Pick { first, last, best, least, most, sum, count, median };

class Figures;
/// A number, by the name that checks and sentences know it by: of entries, or of the figures before
/// it.
struct Quantity {
  std::string name;
  AxisFilter where{};
  Pick pick = Pick::first;
  Figure figure = metric_of;
  std::string unit{};  ///< empty: the metric's, where the figure is the metric
  std::function<bool(const Entry&)> only{};         ///< of the entries that `where` chooses
  std::function<double(const Figures&)> formula{};  ///< of the figures before it, not of entries
};
using Quantities = std::vector<Quantity>;

/// NaN where a number that it takes is.
Quantity formula(std::string name, std::function<double(const Figures&)> value,
                 std::string unit = {});
/// The ones and then the others: of figures, and of rows.
template <class Row>
std::vector<Row> operator+(std::vector<Row> rows, const std::vector<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

/// The numbers of a reading and of facts, and the entries that they come from. Beside the names of
/// quantities and the ids of facts it knows
///   "a/b"         the ratio of two such;
///   "a role"      of the entry that quantity a is of: its axis, counter or extra of that name, its
///                 "bound", "timer", "ratio" (to its opponents), "opponent" (the fastest one's
///                 name) or "opponent's" value; without the a where its quantity has no name;
///   "id reason"   why the fact has no value, where others have one.
class Figures {
 public:
  Figures(const Quantities& reading, std::span<const Entry> entries,
          const std::vector<Fact>& facts = {});
  double operator[](const std::string& name) const;  ///< NaN: missing
  /// The least and the most of these; NaN where one is missing.
  std::pair<double, double> range(const std::vector<std::string>& names) const;
  const Entry* entry(const std::string& quantity) const;  ///< null: of none, or of several
  const std::vector<std::string>& evidence() const { return evidence_; }
  /// Why one of the figures that were asked for is missing, if a counter says so.
  const std::string& why_missing() const { return reason_; }
  /// The sentence with figures by their names in braces, those of noisy entries as ~1.2: {share}
  /// with its unit, {share:.3f} as fmt has it, {share:.1f%} so as a percentage, {share:%} as one of
  /// three digits, {share:,} as a count, {share:many|none} in words, the second for 0. What stands
  /// in [brackets] is left out where one of its figures is missing. Empty where all are.
  std::string tell(const std::string& sentence, bool mark_noisy = true) const;

 private:
  struct Known {
    double value = std::numeric_limits<double>::quiet_NaN();
    std::string unit{}, text{};  ///< the text is said where no format is given
    bool noisy = false;
    const Entry* entry = nullptr;  ///< that a quantity is of
    /// Nothing: it is missing.
    std::optional<std::string> shown(const std::string& format, bool mark_noisy) const;
  };
  Known find(const std::string& name) const;
  Known figure_of(const Entry& entry, const std::string& name) const;
  Known read(const Quantity& quantity, std::span<const Entry> entries);

  std::map<std::string, Known, std::less<>> known_;
  std::vector<std::string> evidence_;
  mutable std::string reason_;
};

/// A number that must be within these ends for a claim to hold.
struct FigureRange {
  std::string quantity;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

/// all: a check that fails refutes. cases: each check is a case that the claim's words cover, and
/// the claim is conditional where some hold and some do not. those_measured: as all, but checks
/// whose case a short suite leaves out are passed over. effect: the first check is the effect and
/// alone refutes; the others are controls of its cause, and the claim is conditional where one
/// fails.
enum class Rule { all, cases, those_measured, effect };

/// The largest number below 1: what is less than 1 is this at most.
inline constexpr double below_one = 1 - std::numeric_limits<double>::epsilon() / 2;

/// Whose claims these are.
struct ClaimSource {
  std::string author, gpu;
};
inline const ClaimSource toyx{"ToyX, mechanisms behind GPU optimisation tricks", "RTX 4090"};
inline const ClaimSource double_products{"notes on shared memory and products of doubles",
                                         "an unnamed GPU"};

struct ClaimRow {
  std::string id;
  ClaimSource source{};
  std::string statement{}, claimed{};
  Quantities reading{};
  std::vector<FigureRange> checks{};
  std::string sentence{};
  Rule rule = Rule::all;
  std::string missing = left_out;      ///< why a check has no figure, where no counter says it
  std::vector<FigureRange> premise{};  ///< does not apply where one fails
  std::string unmet{};                 ///< says so
};
Claim evaluate(const ClaimRow& row, std::span<const Entry> entries);

// Facts.

/// The same fact without a value and all that goes with one. `reason` must not be empty.
Fact unmeasured(const Fact& fact, std::string reason);
/// Why `entry`, which may be null, has no value; `absent` if it is not there at all.
std::string why_missing(const Entry* entry, std::string absent);
/// Multiplies a fact's value and interval.
void scale(Fact& fact, double factor);

/// A fact that is one entry's metric with its interval, bound and counters, or the median of
/// several. A name without a unit takes the metric's, and what is better of it.
struct FactRow {
  Fact name;  ///< id, subject, quantity, unit and what is better
  AxisFilter where{};
  /// {axis of the entry}, {timer}; {rivals}: how many there were to pick from, where there were
  /// several; of a median {measured}, {low} and {high}.
  std::string method{};
  std::string absent = left_out;  ///< why there may be no entry
  Pick pick = Pick::first;
  std::function<void(Fact&, const Entry&)> change{};  ///< of the fact that its metric makes
  std::function<bool(const Entry&)> only{};
  Figure figure = metric_of;  ///< what is picked by, or the median is of
};
Fact evaluate(const FactRow& row, std::span<const Entry> entries);

/// What is concluded from a probe's entries: pure, so that a recording gives the same answer.
struct Findings {
  std::string answer;  ///< one sentence with figures
  std::vector<Claim> claims;
  std::vector<View> views;
  std::string page, page_title;  ///< of the views that have a section, see ProbeSummary
  /// `probe` is filled in by put_findings, `published` too where models/published.h has a figure.
  std::vector<Fact> facts;
};

/// `entries` are one probe's, in order; some may lack (filtered, failed): say not_measured then.
using Conclude = std::function<Findings(std::span<const Entry> entries)>;

/// Puts what `conclude` makes of the probe's entries into the document, instead of what it has of
/// this probe: answer, views and page, claims, and facts with what others published of the
/// document's GPU. The document has the probe's summary already, and may have other probes.
void put_findings(const std::string& probe, const Conclude& conclude, Document& document);

/// The same for all of a recorded document's probes that `conclusion_of` knows, with a note on who
/// measured and who concluded. Entries, dates and fingerprint stay as they are.
void conclude_again(Document& document, Conclude conclusion_of(std::string_view probe));

/// All that a probe concludes.
struct Conclusions {
  std::vector<ClaimRow> claims{};
  std::vector<FactRow> facts{};
  /// Facts that take more than a row, behind the others.
  std::vector<std::vector<Fact> (*)(std::span<const Entry>)> more_facts{};
  Quantities reading{};  ///< of the answer, beside the facts
  std::string answer{};  ///< a sentence of facts and of the reading
  std::vector<View> views{};
};
Findings evaluate(const Conclusions& rows, std::span<const Entry> entries);

// Views as most probes have them.

using Where = decltype(View::where);
/// What else a plot may have; its x label is the axis unless another is given.
struct PlotStyle {
  std::string x_label{}, y = "metric";
  bool x_log2 = false;
  bool y_log = false;  ///< which does not begin at zero
  bool bound = false, expected = false, overview = false;
};
/// With a line for each combination of the series' axes.
View plot(std::string title, Where where, std::string x, std::string y_label,
          std::vector<std::string> series, const PlotStyle& style = {}, std::string note = "");
View table(std::string title, Where where, std::vector<std::string> columns, std::string note = "");

}  // namespace fathom
