#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace fathom {

// Groups of things that behave alike, such as SMs whose latencies to the same lines rise and fall
// together. Everything here is deterministic, and a permutation of the things permutes the result.
// Rows are as long as each other, and all values finite.

/// One row of values for each thing.
using Rows = std::vector<std::vector<double>>;

/// The group of each thing. Groups are numbered from 0 in the order of their first members.
using Labels = std::vector<int>;

/// Two things each, in order, whose groups are joined.
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Each value less its row's and its column's mean, plus the mean of all: what an additive model of
/// rows and columns leaves over.
Rows double_centred(const Rows& rows);

/// Pearson's correlation coefficient, from -1 to 1; 0 where either is constant.
double correlation(std::span<const double> a, std::span<const double> b);

/// So many groups of rows that rise and fall together, by average linkage of their correlations:
/// the nearest two groups become one until there are so few, where the distance of two groups is
/// the mean of 1 - correlation over their members (Sokal and Michener, "A statistical method for
/// evaluating systematic relationships", 1958). Among equal distances the pair with the earliest
/// members is joined first. Takes about n^3 steps: meant for hundreds of things.
Labels clusters(const Rows& rows, std::size_t groups);

/// Agreement of two groupings of the same things: 1 if they are the same, about 0 if only by chance
/// (Hubert and Arabie, "Comparing partitions", 1985). Two groupings that leave chance nothing, all
/// in one group or all alone in both, are the same: 1.
double adjusted_rand_index(const Labels& a, const Labels& b);

/// Groups of `size` things of which each pair given is in one group.
Labels connected(std::size_t size, std::span<const Pairs::value_type> pairs);

/// The same groups, numbered as Labels are, from any numbers that tell them apart.
Labels renumbered(std::span<const int> labels);

int number_of_groups(const Labels& labels);

/// Members of each group, ascending.
std::vector<std::vector<std::size_t>> members(const Labels& labels);

/// A grouping, how well it fits, and what stood against it. How well: the mean silhouette width,
/// how much nearer things are to their own group than to the next one, from -1 to 1, where a thing
/// alone in its group counts 0 (Rousseeuw, "Silhouettes: a graphical aid to the interpretation and
/// validation of cluster analysis", 1987). 0 for one group.
struct Grouping {
  Labels labels;
  int groups = 0;
  double silhouette = 0;
  int widest = 0;  ///< the number of groups that fits best, if only by chance
  double widest_silhouette = 0;
};

/// `clusters` of rows, `least` to `most` of them and no more than rows: the smallest number that
/// fits better than one fewer and one more and whose silhouette falls short of the widest by no
/// more than two standard errors of that difference. Where things are grouped at two scales, such
/// as SMs by side of the chip and again within each, the widest silhouette alone would go with the
/// noise.
///
/// The columns are taken as a sample: standard errors are by the delete-a-group jackknife (Kott,
/// "The delete-a-group jackknife", 2001) over twelve groups of them, and the smallest model within
/// its error of the best is the rule of Breiman, Friedman, Olshen and Stone ("Classification and
/// regression trees", 1984) with two errors for one. Fewer columns than twelve have as many groups.
Grouping parsimonious_clusters(const Rows& rows, std::size_t least, std::size_t most);

}  // namespace fathom
