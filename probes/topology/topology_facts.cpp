#include "probes/topology/topology_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/names.h"

namespace fathom::topology {
const Labels& Topology::gpcs() const {
  static const Labels none;
  if (clusters.reason.empty()) return joined.labels;
  return latency.reason.empty() && !latency_shows_sides_only() ? latency.groups.labels : none;
}

bool Topology::latency_shows_sides_only() const {
  return latency.reason.empty() && partitions.reason.empty() &&
         latency.groups.labels.size() == partitions.labels.size() &&
         adjusted_rand_index(latency.groups.labels, partitions.labels) >= same_groups;
}

const Labels& Topology::tpcs() const {
  static const Labels none;
  if (contention.reason.empty()) return contention.labels;
  return cluster_pairs.reason.empty() ? cluster_pairs.pairs.labels : none;
}

Topology topology_of(std::span<const Entry> entries) {
  Topology t;
  t.clusters = gpcs_by_clusters(entries);
  t.loads = both_sets(entries, load_instruction);
  t.latency = latency_groups(entries, load_instruction, GroupedBy::latency, 2,
                             std::max<std::size_t>(2, t.loads.rows.size() / 2));
  t.partitions = l2_partitions(entries);
  t.contention = pairs_by_contention(entries);
  t.cluster_pairs = pairs_by_clusters(entries);
  t.latency_pairs = pairs_by_latency(entries);
  t.latency_gpcs.reason = t.clusters.reason;
  if (t.clusters.reason.empty()) {
    t.latency_gpcs = gpcs_by_latency(entries, t.clusters.gpcs());
    t.joined = joined_gpcs(t.clusters, t.latency_gpcs);
  }
  t.lines = line_groups(entries);
  for (const Entry& entry : entries) {
    const auto published = [&](const char* name, double& value) {
      if (const auto found = entry.extras.find(name); found != entry.extras.end())
        value = found->second;
    };
    published(published_gpcs, t.published_gpcs);
    published(published_tpcs, t.published_tpcs);
  }
  return t;
}

std::vector<Fact> facts_of(const Topology& topology) {
  std::vector<Fact> facts;
  for (const auto part : {add_gpcs, add_gpc_agreement, add_tpcs, add_tpc_agreement, add_partitions,
                          add_latency_groups, add_latencies, add_lines})
    part(facts, topology);
  return facts;
}

std::string ranges(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1) ++i;
    if (!text.empty()) text += ", ";
    text += first == i ? fmt::format("{}", numbers[i])
                       : fmt::format("{}-{}", numbers[first], numbers[i]);
  }
  return text;
}

}  // namespace fathom::topology
