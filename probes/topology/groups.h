#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "results/findings.h"

namespace fathom::topology {

// Groups of things that behave alike, such as SMs whose latencies to the same lines rise and fall
// together. Everything here is deterministic, and a permutation of the things permutes the result.
// Rows are as long as each other, and all values finite.

/// One row of values for each thing.
using Rows = std::vector<std::vector<double>>;

/// The group of each thing. Groups are numbered from 0 in the order of their first members.
using Labels = std::vector<int>;

/// Two things each, whose groups are joined.
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

/// Of `size` things: each pair is in one group.
Labels connected(std::size_t size, std::span<const Pairs::value_type> pairs);

/// The same groups, numbered as Labels are.
Labels renumbered(std::span<const int> labels);

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

// Groups of SMs by each method, and the facts that they make. Labels are by SM number: label i is
// of SM i. What a method cannot tell it gives a `reason` for; what else it has is then not read.

// Names of axes' values, which the cases give and the conclusions look for.
inline constexpr const char* latency_sweep = "latency";
inline constexpr const char* cluster_sweep = "clusters";
inline constexpr const char* pair_sweep = "pairs";
/// Blocks that find room on an SM while clusters of two are counted.
inline constexpr int pair_blocks_per_sm = 4;
inline constexpr const char* load_instruction = "ld.global.cg";
inline constexpr const char* atomic_instruction = "atom.global.add";

/// On the axis "SM": the profile has all SMs, one after the other.
inline constexpr const char* all_sms = "all";

/// Names of disjoint sets of lines, and of two halves of the launches.
inline constexpr const char* set_names[] = {"first", "second"};

/// Two groupings of SMs that agree at least this far are the same: what the project asks of two
/// runs.
inline constexpr double same_groups = 0.95;

using Members = std::vector<std::size_t>;

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// The profiles of all SMs.
struct Matrix {
  Rows rows;                          ///< by SM number; empty where `reason` is not
  Rows left;                          ///< what an additive model of SMs and places leaves of them
  std::vector<std::string> evidence;  ///< the first and the last SM's entry
  int repeats = 0;                    ///< launches behind each row
  std::vector<Counter> counters;      ///< of the first entry that has any
  std::string reason;
};
Matrix matrix_of(std::span<const Entry> entries, const AxisFilter& filter);

/// One instruction's latencies to both sets of lines, and to the lines of both beside each other.
/// What is left of the latter is of each set's own model: between the two an SM's mean may have
/// moved.
struct Latencies {
  const char* instruction = "";
  Matrix sets[2], both;
};

struct Groups {
  Labels labels;
  double reproducibility = 0;  ///< adjusted Rand index of two halves of what they are told by
  Matrix matrix;               ///< what they are told by; of clusters evidence and repeats alone
  std::string reason;
};

/// A grouping by latency, made three times: from both sets of lines, which also say into how many
/// groups, and into as many from each set alone.
struct LatencyGroups : Groups {
  Grouping fit;
};

/// Sides of the L2: groups of SMs to which the same lines are near, and the other lines far.
struct Partitions : LatencyGroups {
  const char* instruction = "";
  double separation = 0;   ///< of near from far, see probes/claims.h
  double penalty = 0;      ///< cycles from the near side to the far one, mean over lines
  std::vector<int> lines;  ///< nearest to each side
  bool by_atomics() const { return instruction == std::string_view(atomic_instruction); }
};

/// GPCs by what clusters join, from all cluster sizes.
struct ClusterGroups : Groups {
  /// SMs on which no cluster larger than two ran beside SMs of another TPC, although clusters join
  /// more elsewhere. Their labels make each pair of them a group.
  Members outside;
  std::vector<Members> inside;  ///< each other group: a GPC, or the part of it that clusters reach
  bool has_halves = false;      ///< else there is no reproducibility
};
ClusterGroups gpcs_by_clusters(std::span<const Entry> entries);

/// GPCs by clusters; an SM outside of them joins the GPC of its group by latency. The
/// reproducibility is that of the groups by latency.
struct Gpcs : Groups {
  bool assigned = false;      ///< those outside have a GPC, else they are one more group
  double agreement = 0;       ///< adjusted Rand index of both ways, of SMs within clusters' reach
  double own = 0, other = 0;  ///< correlation of those outside with their GPC, and with the next
  std::string instructions;   ///< whose latencies these are; the matrix is of the last of them
};
/// By latencies of loads, and of atomics where they were measured: as many GPCs as clusters show.
/// GPCs side by side differ far less than the places within them do, so the SMs are cut into halves
/// until there are half as many regions as GPCs, and these into places that are some cycles apart;
/// what each place's own additive model leaves is then grouped in each region.
Gpcs joined_gpcs(const ClusterGroups& clusters, const Latencies& loads, const Latencies& atomics);

/// Each SM with at most one partner; one without is alone.
struct SmPairs : Groups {
  int paired = 0;  ///< SMs that have a partner
  /// The share of an SM's clusters that it has with its partner, least of all SMs; and with the
  /// second most frequent SM, most of all SMs.
  double share = 0, next_share = 0;
};
/// Pairs that clusters of two blocks join far more often than either with a third SM, in launches
/// of many more blocks than fit, because first waves may follow one order each time.
SmPairs pairs_by_clusters(std::span<const Entry> entries);
/// Pairs of which each SM's latencies are nearest to the other's, line by line.
SmPairs pairs_by_latency(const Latencies& loads, const Latencies& atomics);

struct Topology {
  ClusterGroups clusters;  ///< GPCs, but for SMs that clusters leave out
  Gpcs joined;             ///< and for those
  LatencyGroups latency;   ///< by loads
  Partitions partitions;
  SmPairs cluster_pairs;  ///< TPCs
  SmPairs latency_pairs;
  /// SMs by GPC, by clusters where there are any, else by latency, unless that shows no more than
  /// the sides of the L2; empty if neither tells.
  Labels gpcs;
  /// The members of each GPC, without SMs whose GPC nothing tells.
  std::vector<Members> known_gpcs;
  Labels tpcs;  ///< by clusters of two; empty if those do not tell
};

Topology topology_of(std::span<const Entry> entries);

}  // namespace fathom::topology
