#pragma once

#include <string>
#include <vector>

#include "probes/topology/groups.h"
#include "probes/topology/topology_facts.h"

// How facts of this probe are put together.

namespace fathom::topology {

/// What a fact is about; its id is "topology." and `id`.
struct Subject {
  std::string id, subject, quantity, unit;
};

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
