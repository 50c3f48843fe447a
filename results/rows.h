#pragma once

#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/findings.h"
#include "results/query.h"

// Claims and facts as rows: which entries, which figure of them, which rule, which sentence. One
// evaluator decides them all, for a run as for a recording.
//
// A sentence names figures in braces: {share} with its unit, {share:.3f} as fmt has it, {share:%}
// as a percentage, {share:,} as a count, {share:many|none} in words, the second for 0. What stands
// in [brackets] is left out where one of its figures is missing.

namespace fathom {

// Making facts of entries: what the probes' conclusions share.

/// Why there is no entry, as most facts have it.
inline constexpr const char* left_out = "its cases were left out of this run or failed";

/// What a fact is of, and what its value is counted in.
struct FactName {
  std::string id, subject, quantity;
  std::string unit{};
  Better better = Better::higher;
};

/// A fact that its caller gives a value or a reason yet.
Fact named_fact(FactName name);

/// A fact without a value and the reason why. `reason` must not be empty.
Fact missing_fact(FactName name, std::string reason);

/// The entry's metric as a fact, with its interval, bound and counters. The entry must have a
/// value; a name without a unit takes the metric's, and what is better of it.
Fact fact_of(const Entry& entry, FactName name, std::string method);

/// Why `entry`, which may be null, has no value; `absent` if it is not there at all.
std::string why_missing(const Entry* entry, std::string absent);

/// Two speeds of one run are the same where the slower has this share of the faster. Two cards of
/// one model differ by up to 4 % in the same entry (H200): less than 5 % is no difference that a
/// claim about GPUs could rest on.
inline constexpr double same_speed = 0.95;
/// That, as pages say it beside their claims.
std::string same_speed_sentence();

/// A number that an entry has, or NaN.
using Figure = std::function<double(const Entry&)>;
double metric_of(const Entry& entry);
double bound_of(const Entry& entry);
/// Its ratio to the fastest of its opponents.
double ratio_to_opponents(const Entry& entry);
/// The fastest of its opponents; a sentence names it as {quantity opponent}.
double fastest_opponent_of(const Entry& entry);
Figure counter_of(std::string role);
Figure extra_of(std::string name);
Figure axis_of(std::string name);
/// 1 where the test holds, else 0: summed up, how many entries pass.
Figure passes(std::function<bool(const Entry&)> test);

/// Which of several entries speaks, or what all of them say together. best: by their metric.
/// median: of facts alone.
enum class Pick { first, last, best, least, most, sum, count, median };

/// A number, by the name that formulas, rules and sentences know it by.
struct Quantity {
  std::string name;
  AxisFilter where;
  Pick pick = Pick::first;
  Figure figure = metric_of;
  std::string unit{};  ///< empty: the metric's, where the figure is the metric
  std::function<bool(const Entry&)> only{};  ///< of the entries that `where` chooses
};

class Figures;
/// A number made of others: NaN where one of them is.
struct Formula {
  std::string name;
  std::function<double(const Figures&)> value;
  std::string unit{};
};
Formula ratio(std::string name, std::string over, std::string under);
Formula least_of(std::string name, std::vector<std::string> quantities);
Formula most_of(std::string name, std::vector<std::string> quantities, std::string unit);

/// What rows and answers are read off.
struct Reading {
  std::vector<Quantity> quantities;
  std::vector<Formula> formulas{};
};

/// The numbers of a reading, and the entries that they come from.
class Figures {
 public:
  Figures(const Reading& reading, std::span<const Entry> entries);
  double operator[](const std::string& name) const;  ///< NaN: missing
  /// The entry that a quantity is of; null for sums and formulas.
  const Entry* entry(const std::string& name) const;
  std::vector<std::string> evidence() const;
  /// The sentence with its figures, those of noisy entries as ~1.2; `any`: whether it has one that
  /// is not missing.
  std::string tell(const std::string& sentence, bool* any = nullptr, bool mark_noisy = true) const;
  /// Why one of these is missing: the first that has a reason.
  std::string why_missing() const;

 private:
  struct Known {
    double value = std::numeric_limits<double>::quiet_NaN();
    std::string unit;
    const Entry* entry = nullptr;
  };
  std::map<std::string, Known, std::less<>> known_;
  std::vector<const Entry*> entries_;
  std::string reason_;
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
  std::string id, statement, claimed;
  ClaimSource source{};
  Reading reading;
  std::vector<FigureRange> checks;
  std::string sentence;
  Rule rule = Rule::all;
  std::vector<FigureRange> premise{};  ///< does not apply where one fails
  std::string unmet{};                 ///< says so
  std::string missing{};               ///< why a check has no figure, where no entry says it
};
Claim evaluate(const ClaimRow& row, std::span<const Entry> entries);

/// A fact that is one entry's figure, or the median of several.
struct FactRow {
  FactName name;
  AxisFilter where{};
  /// {axis of the entry}, {timer}; {cases}: how many there were to pick from, {rivals} the same
  /// where there were several; of a median {measured}, {low} and {high}.
  std::string method{};
  std::string absent = left_out;  ///< why there may be no entry
  Pick pick = Pick::first;
  std::function<bool(const Entry&)> only{};
  std::function<void(Fact&, const Entry&)> change{};  ///< of the fact that its metric makes
  Figure figure = metric_of;                          ///< what is picked by, or the median is of
};
Fact evaluate(const FactRow& row, std::span<const Entry> entries);

/// The same fact without a value.
Fact unmeasured(const Fact& fact, std::string reason);

/// A sentence with facts by their ids in braces, as ~1.2 where one of their entries is noisy; empty
/// where none of all the facts has a value.
std::string answer_from(const std::vector<Fact>& facts, std::span<const Entry> entries,
                        const std::string& sentence);

/// Multiplies a fact's value and interval.
void scale(Fact& fact, double factor);

/// All that a probe concludes.
struct Conclusions {
  std::vector<ClaimRow> claims{};
  std::vector<FactRow> facts{};
  /// Facts that take more than a row, behind the others.
  std::vector<std::vector<Fact> (*)(std::span<const Entry>)> more_facts{};
  Reading reading{};  ///< of the answer; without one its figures are facts
  std::string answer{};
  std::vector<View> views{};
};
Findings evaluate(const Conclusions& rows, std::span<const Entry> entries);

}  // namespace fathom
