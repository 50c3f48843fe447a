#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/markdown.h"
#include "results/document.h"

namespace fathom::reports {

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

/// By how much a fact differs from the published figure, relative to that; nothing where a fact
/// lacks either, or no ratio says it.
std::optional<double> deviation(const Fact& fact);

/// What share of its bound a fact reaches, at most 1 unless it breaks it; nothing without either.
std::optional<double> share_of_bound(const Fact& fact);

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

}  // namespace fathom::reports
