#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/topology/clustering.h"
#include "probes/topology/names.h"
#include "results/rows.h"

// Groups of SMs by each method, and the facts that they make. Labels are by SM number: label i is
// of SM i. What a method cannot tell it gives a `reason` for; what else it has is then not read.

namespace fathom::topology {

/// Two groupings of SMs that agree at least this far are the same: what the project asks of two
/// runs.
inline constexpr double same_groups = 0.95;

/// SMs of a group, ascending.
using Members = std::vector<std::size_t>;

/// The profiles of all SMs, from an entry for each or from one for all.
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
Latencies latencies_of(std::span<const Entry> entries, const char* instruction);

/// What every method gives.
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

/// What SMs are grouped by: the latencies themselves, or only whether they are short or long ones.
enum class GroupedBy { latency, near_or_far };

/// Two groups or more, by the correlation of what an additive model of SMs and lines leaves. That
/// model holds most of the variance (0.87 on an L40: Alpay and Basaran, "Non-Uniform L2 Cache
/// Latency Across the Streaming Multiprocessors of an NVIDIA L40", 2026), but not who is near to
/// what. The reason may be that groups are not to be trusted.
LatencyGroups latency_groups(const Latencies& latencies, GroupedBy grouped_by);

/// Sides of the L2: groups of SMs to which the same lines are near, and the other lines far.
struct Partitions : LatencyGroups {
  const char* instruction = "";
  double separation = 0;   ///< of near from far, see probes/two_groups.h
  double penalty = 0;      ///< cycles from the near side to the far one, mean over lines
  std::vector<int> lines;  ///< nearest to each side
  bool by_atomics() const { return instruction == std::string_view(atomic_instruction); }
};
/// By atomics, which go to a line's home, else by loads.
Partitions l2_partitions(const Latencies& loads, const Latencies& atomics);

/// GPCs by what clusters join, from all cluster sizes.
struct ClusterGroups : Groups {
  /// SMs on which no cluster larger than two ran beside SMs of another TPC, although clusters join
  /// more elsewhere: the GPU keeps them apart from the GPC that they sit in. Their labels make each
  /// pair of them a group.
  Members outside;
  std::vector<Members> inside;  ///< each other group: a GPC, or the part of it that clusters reach
  bool has_halves = false;      ///< else there is no reproducibility
};
ClusterGroups gpcs_by_clusters(std::span<const Entry> entries);

/// SMs by GPC from latencies alone. GPCs side by side differ far less than the places
/// within them do, so the SMs are cut into halves until there are half as many regions as GPCs, and
/// these into places that are some cycles apart; what is left at each place, the additive model of
/// its own SMs and lines taken away, is then grouped in each region.
struct LatencyGpcs : Groups {
  std::vector<int> region;   ///< by SM
  Rows left;                 ///< by SM, at its place
  std::string instructions;  ///< whose latencies these are; the matrix is of the last of them
};
/// By loads, and by atomics where they were measured; `gpcs`: as many as there are.
LatencyGpcs gpcs_by_latency(const Latencies& loads, const Latencies& atomics, std::size_t gpcs);

/// The SMs of two ways to tell GPCs as one: those outside clusters are put into the GPC that the
/// latencies' group around them is of.
struct Gpcs {
  Labels labels;              ///< SMs outside, if not assigned, are one more group
  bool assigned = false;      ///< those outside have a GPC
  double agreement = 0;       ///< adjusted Rand index of both ways, of SMs within clusters' reach
  double own = 0, other = 0;  ///< correlation of those outside with their GPC, and with the next
  std::string reason;         ///< why not assigned; why there is no agreement
};
Gpcs joined_gpcs(const ClusterGroups& clusters, const LatencyGpcs& latency);

/// Each SM with at most one partner; one without is alone.
struct SmPairs : Groups {
  int paired = 0;  ///< SMs that have a partner
  /// Of an SM's clusters: with its partner, least of all SMs; with the second most frequent, most
  /// of all SMs.
  double share = 0, next_share = 0;
};
/// Pairs that clusters of two blocks join far more often than either with a third SM, in launches
/// of many more blocks than fit, because first waves may follow one order each time.
SmPairs pairs_by_clusters(std::span<const Entry> entries);
/// Pairs of which each SM's latencies are nearest to the other's, line by line.
SmPairs pairs_by_latency(const Latencies& loads, const Latencies& atomics);

/// All that the facts and the views are drawn from.
struct Topology {
  ClusterGroups clusters;    ///< GPCs, but for SMs that clusters leave out
  LatencyGpcs latency_gpcs;  ///< as many as clusters show
  Gpcs joined;               ///< by both
  LatencyGroups latency;     ///< by loads
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

std::vector<Fact> facts_of(const Topology& topology);

/// "0-3, 8, 10-11".
std::string ranges(const Members& numbers);

}  // namespace fathom::topology
