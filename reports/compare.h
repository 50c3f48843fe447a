#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::reports {

// Two result documents side by side, of any GPUs, drivers, commits or dates. It decides nothing
// about either; `fathom check` does. Terminal, Markdown and JSON are written from one Comparison.

/// One figure in one document.
struct ComparedValue {
  double value = 0;
  std::optional<Interval> interval;
  bool noisy = false;
  double rounds = 0;  ///< how far the medians of its rounds differ, relative; 0: not known
  friend bool operator==(const ComparedValue&, const ComparedValue&) = default;
};

/// What two values of one figure say of each other. B over A is their ratio; its interval goes from
/// B's lowest over A's highest to B's highest over A's lowest.
enum class Outcome {
  differs,       ///< that whole interval is further from 1 than `equal_runs`, and than `rounds`
  undecided,     ///< another value, but one side has no interval, or one below 80 % confidence
  within_noise,  ///< neither differs nor same
  same,          ///< that whole interval is within `equal_runs` of 1, or the values are equal
  not_compared   ///< `reason` says why
};
FATHOM_WORDS(Outcome, "differs", "undecided", "within_noise", "same", "not_compared")

struct ComparedFigure {
  enum class Kind { fact, entry, opponent_ratio };
  Kind kind = Kind::entry;
  std::string name;   ///< of the entry, "<entry> vs <opponent>", or the fact's id
  std::string title;  ///< for people
  std::string probe, unit;
  Better better = Better::higher;
  bool headline = false;  ///< the figure that `fathom run` prints of its probe, or a memory level's
  bool in_fact = false;   ///< an entry that is the whole of a fact, which both have
  std::optional<ComparedValue> a, b;
  /// B over A and its interval; nothing where a value or an end of an interval is not above zero:
  /// differences then stand for it, relative to the larger value.
  std::optional<double> ratio{};
  std::optional<Interval> ratio_interval{};
  double size = 0;  ///< of the change, for sorting: 0 is none
  Outcome outcome = Outcome::not_compared;
  std::string reason{};
  bool noisy() const { return (a && a->noisy) || (b && b->noisy); }
  /// Whether B is the better one, by the document's direction.
  bool better_in_b() const { return (b->value > a->value) == (better == Better::higher); }
};
FATHOM_WORDS(ComparedFigure::Kind, "fact", "entry", "opponent_ratio")

struct ComparedDocument {
  std::string file, gpu, suite, date, commit;
  bool replay = false;
};

/// A property of the machine or a claim's verdict that is not the same in both.
struct ChangedText {
  std::string name, a, b;
};

/// What one document alone has: things of one kind of one probe, by name.
struct OnlyHere {
  std::string probe, kind, kinds;  ///< "entry", "fact" or "claim", and the plural
  std::vector<std::string> names;
};

struct Comparison {
  ComparedDocument a, b;
  std::vector<ChangedText> machine;
  std::size_t same_properties = 0;
  std::vector<ComparedFigure> figures;  ///< what differs first, steady before noisy, largest first
  std::vector<ChangedText> claims;
  std::size_t same_claims = 0;
  std::vector<OnlyHere> only_a, only_b;
};

/// `file_a` and `file_b` are what the documents are called. Throws Error(incomplete) if they share
/// no figure.
Comparison compare(const Document& a, const Document& b, const std::string& file_a,
                   const std::string& file_b);

/// In under ten screens of 100 columns, with a line break at the end.
std::string comparison_text(const Comparison& comparison);
/// The same for GitHub, with more of the differences.
std::string comparison_markdown(const Comparison& comparison);
/// All of it.
std::string comparison_json(const Comparison& comparison);

}  // namespace fathom::reports
