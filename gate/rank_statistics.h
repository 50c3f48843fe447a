#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::gate {

// Two samples compared by ranks; neither is empty, and all values are finite.

/// One-sided p-value of the Wilcoxon-Mann-Whitney rank-sum test: the probability, if base and head
/// are exchangeable, of a rank sum of `head` at least as large as the one seen. Exact, over all
/// ways to choose which of the pooled mid-ranks are the head's: for the rounds of a check, some
/// dozens.
double rank_test_greater(std::span<const double> base, std::span<const double> head);

/// The smallest p-value that the test can give for so many values: 1 over the number of ways to
/// choose `head` of them all.
double smallest_rank_p(std::size_t base, std::size_t head);

/// Hodges and Lehmann's estimate of how much larger head is than base (1963): the median of all
/// pairwise differences; and its interval from two of them, by the rank test's distribution.
struct Shift {
  double estimate = 0;
  Interval interval;
};

/// The narrowest such interval that reaches `interval_confidence`; the whole range of the
/// differences, with the lower confidence that it has, where none does.
Shift shift_of(std::span<const double> base, std::span<const double> head);

/// Holm's adjusted p-values (1979), in the order given: rejecting those that are at most alpha
/// keeps the probability of any false rejection at alpha, whatever the dependence.
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace fathom::gate
