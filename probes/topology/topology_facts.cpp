#include "probes/topology/groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/names.h"
#include "results/statistics.h"

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

Fact& add(std::vector<Fact>& facts, const Subject& s, const std::string& reason, double value,
          std::string method, const Matrix& matrix, Better better) {
  Fact& fact = facts.emplace_back(named_fact(s));
  fact.id = "topology." + s.id;
  fact.reason = reason;
  if (!reason.empty()) return fact;
  fact.better = better;
  fact.value = value;
  fact.method = std::move(method);
  fact.evidence = matrix.evidence;
  fact.repeats = matrix.repeats;
  fact.counters = matrix.counters;
  return fact;
}

void add_missing(std::vector<Fact>& facts, const std::vector<Subject>& subjects,
                 const std::string& reason) {
  for (const Subject& s : subjects) add(facts, s, reason, 0, "", {});
}

void add_index(std::vector<Fact>& facts, const char* id, const char* subject,
               const std::string& reason, double value, const std::string& method,
               const Matrix& matrix) {
  Fact& fact = add(facts, {id, subject, "agreement", ""}, reason, value, method, matrix);
  if (fact.value) fact.bound = Bound{1, "two groupings that are the same"};
}

void add_published(Fact& fact, double published) {
  if (published > 0) fact.published = Published{published, published_source};
}

void add_partitions(std::vector<Fact>& facts, const Topology& t) {
  const Partitions& p = t.partitions;
  const Subject number{"l2_partitions", "L2", "partitions", "partitions"};
  const Subject penalty{"partition_penalty", "far partition of the L2", "added latency", "cycles"};
  const auto near = [](char side) {
    return Subject{fmt::format("sms_near_partition_{}", side), fmt::format("L2 partition {}", side),
                   "SMs near it", "SMs"};
  };
  if (p.reason.empty()) {
    add(facts, number, "", number_of_groups(p.labels),
        fmt::format("{} latencies: to which lines an SM is near and to which far, of whose "
                    "variance that is {:.2f}",
                    p.instruction, p.separation),
        p.matrix);
    const auto sides = members(p.labels);
    for (std::size_t side = 0; side < sides.size(); ++side)
      add(facts, near(static_cast<char>('a' + side)), "", static_cast<double>(sides[side].size()),
          fmt::format("SM {}; nearest to {} of {} lines", ranges(sides[side]), p.lines[side],
                      p.matrix.rows.front().size()),
          p.matrix);
    add(facts, penalty, "", p.penalty,
        fmt::format("{}, mean over lines of the far side's SMs less the near side's",
                    p.instruction),
        p.matrix, Better::lower);
  } else {
    add_missing(facts, {number, near('a'), near('b'), penalty}, p.reason);
  }
  add_index(facts, "partition_reproducibility", "SMs by L2 partition, two sets of lines", p.reason,
            p.reproducibility,
            "adjusted Rand index of the groups from one set of lines and the other's", p.matrix);
}

void add_latency_groups(std::vector<Fact>& facts, const Topology& t) {
  const LatencyGroups& l = t.latency;
  add(facts, {"latency_groups", "SMs by latency", "groups", "groups"}, l.reason, l.groups.groups,
      fmt::format(
          "correlation of {} latencies, average linkage; fewest groups at a peak of the "
          "silhouette ({:.2f}) within two standard errors of the widest ({:.2f}, {} groups)",
          load_instruction, l.groups.silhouette, l.widest_silhouette, l.widest),
      t.loads);
  add_index(facts, "reproducibility", "SMs by latency, two sets of lines",
            l.groups.labels.empty() ? l.reason : "", l.reproducibility,
            fmt::format("adjusted Rand index of {} groups from one set of lines and as many from "
                        "another, each grouped by itself",
                        l.groups.groups),
            t.loads);
}

void add_latencies(std::vector<Fact>& facts, const Topology& t) {
  const Subject nearest{"l2_latency_nearest_sm", "L2, nearest SM", "latency", "cycles"};
  const Subject farthest{"l2_latency_farthest_sm", "L2, farthest SM", "latency", "cycles"};
  if (t.loads.reason.empty()) {
    std::vector<double> means;
    for (const auto& row : t.loads.rows) means.push_back(interquartile_mean(row));
    const auto [low, high] = std::ranges::minmax_element(means);
    for (const auto& [s, at] : {std::pair{nearest, low}, {farthest, high}})
      add(facts, s, "", *at,
          fmt::format("SM {}: {} of single lines, interquartile mean over {} of them",
                      at - means.begin(), load_instruction, t.loads.rows.front().size()),
          t.loads);
  } else {
    add_missing(facts, {nearest, farthest}, t.loads.reason);
  }
  for (Fact& fact : std::span(facts).last(2)) fact.better = Better::lower;
}

void add_lines(std::vector<Fact>& facts, const Topology& t) {
  add(facts, {"l2_line_groups", "L2 lines by latency", "groups", "groups"}, t.lines.reason,
      t.lines.groups,
      fmt::format("correlation of {} latencies over the SMs, average linkage, silhouette; even and "
                  "odd SMs agree to an adjusted Rand index of {:.2f}",
                  load_instruction, t.lines.agreement),
      t.lines.matrix);
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
