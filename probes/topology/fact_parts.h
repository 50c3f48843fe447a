#pragma once

#include <string>
#include <utility>
#include <vector>

#include "probes/topology/groups.h"

// How facts of this probe are put together.

namespace fathom::topology {

/// What a fact is about; its id is "topology." and `id`.
struct Subject {
  std::string id, subject, quantity, unit;
};

Fact missing(const Subject& s, std::string reason);
Fact stated(const Subject& s, double value, std::string method, std::vector<std::string> evidence,
            int repeats);
/// From the matrix' entries, with its counters.
Fact stated(const Subject& s, double value, std::string method, const Matrix& matrix);
/// An adjusted Rand index is 1 at most.
Fact with_bound_of_index(Fact fact);

/// Where there is one: `published` is 0 otherwise.
void add_published(Fact& fact, double published);
/// An adjusted Rand index.
Subject agreement(std::string id, std::string subject);
/// Sizes of the smallest and of the largest group.
std::pair<double, double> fewest_and_most(const Labels& labels);

struct Topology;
void add_gpcs(std::vector<Fact>& facts, const Topology& t);
void add_gpc_agreement(std::vector<Fact>& facts, const Topology& t);
void add_tpcs(std::vector<Fact>& facts, const Topology& t);
void add_tpc_agreement(std::vector<Fact>& facts, const Topology& t);
void add_partitions(std::vector<Fact>& facts, const Topology& t);
void add_latency_groups(std::vector<Fact>& facts, const Topology& t);
void add_latencies(std::vector<Fact>& facts, const Topology& t);
void add_lines(std::vector<Fact>& facts, const Topology& t);

}  // namespace fathom::topology
