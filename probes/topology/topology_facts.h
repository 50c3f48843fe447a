#pragma once

#include <string>
#include <vector>

#include "probes/topology/groups.h"
#include "results/facts.h"

namespace fathom::topology {

/// All that the facts and the views are drawn from.
struct Topology {
  ClusterGroups clusters;    ///< GPCs, but for SMs that clusters leave out
  LatencyGpcs latency_gpcs;  ///< as many as clusters show
  Gpcs joined;               ///< by both
  LatencyGroups latency;     ///< by loads
  Matrix loads;              ///< both sets of lines
  Partitions partitions;
  ContentionPairs contention;  ///< TPCs
  ClusterPairs cluster_pairs;
  LatencyPairs latency_pairs;
  LineGroups lines;
  double published_gpcs = 0, published_tpcs = 0;  ///< 0: none known for this GPU

  /// SMs by GPC, by clusters where there are any, else by latency, unless that shows no more than
  /// the sides of the L2; empty if neither tells.
  const Labels& gpcs() const;
  /// SMs by TPC, by contention, else by clusters of two; empty if neither tells.
  const Labels& tpcs() const;

  bool latency_shows_sides_only() const;
};

Topology topology_of(std::span<const Entry> entries);

std::vector<Fact> facts_of(const Topology& topology);

/// "0-3, 8, 10-11".
std::string ranges(const std::vector<std::size_t>& numbers);

// How facts of this probe are put together.

/// The name of a fact whose id is "topology." and `id`.
using Subject = FactName;

/// Adds a fact: a value from the matrix' entries, with its counters, or none for `reason`.
Fact& add(std::vector<Fact>& facts, const Subject& s, const std::string& reason, double value,
          std::string method, const Matrix& matrix, Better better = Better::higher);
void add_missing(std::vector<Fact>& facts, const std::vector<Subject>& subjects,
                 const std::string& reason);
/// An adjusted Rand index, which is 1 at most.
void add_index(std::vector<Fact>& facts, const char* id, const char* subject,
               const std::string& reason, double value, const std::string& method,
               const Matrix& matrix);
/// Where there is one: `published` is 0 otherwise.
void add_published(Fact& fact, double published);

void add_gpcs(std::vector<Fact>& facts, const Topology& t);
void add_gpc_agreement(std::vector<Fact>& facts, const Topology& t);
void add_tpcs(std::vector<Fact>& facts, const Topology& t);
void add_tpc_agreement(std::vector<Fact>& facts, const Topology& t);
void add_partitions(std::vector<Fact>& facts, const Topology& t);
void add_latency_groups(std::vector<Fact>& facts, const Topology& t);
void add_latencies(std::vector<Fact>& facts, const Topology& t);
void add_lines(std::vector<Fact>& facts, const Topology& t);

}  // namespace fathom::topology
