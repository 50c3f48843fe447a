#include "probes/topology/conclude_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/conclude_fact_parts.h"
#include "probes/topology/names.h"

namespace fathom::topology {
namespace {

void add_published(Fact& fact, double published) {
  if (published > 0) fact.published = Published{published, published_source};
}

/// Groups of `outer` that contain each group of `inner` whole, of all groups of `inner`.
int nested(const Labels& inner, const Labels& outer) {
  int whole = 0;
  for (const auto& group : members(inner)) {
    whole += std::ranges::all_of(group,
                                 [&](std::size_t sm) { return outer[sm] == outer[group.front()]; });
  }
  return whole;
}

std::pair<double, double> fewest_and_most(const Labels& labels) {
  const auto groups = members(labels);
  const auto [fewest, most] = std::ranges::minmax(
      groups, {}, [](const std::vector<std::size_t>& group) { return group.size(); });
  return {static_cast<double>(fewest.size()), static_cast<double>(most.size())};
}

const Subject gpcs{"gpcs", "GPU", "GPCs", "GPCs"};
const Subject gpc_fewest{"sms_per_gpc_min", "smallest GPC", "SMs", "SMs"};
const Subject gpc_most{"sms_per_gpc_max", "largest GPC", "SMs", "SMs"};

void add_gpcs(std::vector<Fact>& facts, const Topology& t) {
  const Labels& labels = t.gpcs();
  if (labels.empty()) {
    const std::string reason =
        fmt::format("clusters: {}; latency: {}", t.clusters.reason,
                    t.latency.reason.empty() ? "its groups are the sides of the L2, no GPCs"
                                             : t.latency.reason);
    for (const Subject& s : {gpcs, gpc_fewest, gpc_most}) facts.push_back(missing(s, reason));
    return;
  }
  const bool clusters = t.clusters.reason.empty();
  const std::string method =
      clusters ? "clusters of 2 to 16 blocks run within one GPC: SMs that they have in common"
               : fmt::format("SMs whose {} latencies to L2 lines rise and fall together",
                             load_instruction);
  const auto add = [&](const Subject& s, double value, const std::string& how) -> Fact& {
    facts.push_back(clusters ? stated(s, value, how, t.clusters.evidence, t.clusters.repeats)
                             : stated(s, value, how, t.loads));
    return facts.back();
  };
  add_published(add(gpcs, number_of_groups(labels), method), t.published_gpcs);
  const auto [fewest, most] = fewest_and_most(labels);
  add(gpc_fewest, fewest, method);
  add(gpc_most, most, method);
  const auto groups = members(labels);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    add({fmt::format("gpc_{}.sms", g), fmt::format("GPC {}", g), "SMs", "SMs"},
        static_cast<double>(groups[g].size()), "SM " + ranges(groups[g]));
  }
}

/// The second method for GPCs: the tree of latencies, cut into as many groups.
void add_gpc_agreement(std::vector<Fact>& facts, const Topology& t) {
  const Subject s{"gpc_agreement", "GPCs by clusters and by latency", "agreement", ""};
  const std::string reason = !t.clusters.reason.empty() ? t.clusters.reason : t.loads.reason;
  if (!reason.empty() || t.loads.rows.size() != t.clusters.labels.size()) {
    facts.push_back(missing(s, reason.empty() ? "they are of different SMs" : reason));
    return;
  }
  const int groups = number_of_groups(t.clusters.labels);
  const Labels by_latency =
      Dendrogram(correlation_distances(t.loads.left)).cut(static_cast<std::size_t>(groups));
  facts.push_back(with_bound_of_index(
      stated(s, adjusted_rand_index(t.clusters.labels, by_latency),
             fmt::format("adjusted Rand index of clusters' GPCs and of the correlation of {} "
                         "latencies to {} lines, average linkage cut into as many "
                         "groups as clusters show",
                         load_instruction, t.loads.rows.front().size()),
             t.loads)));
}

void add_tpcs(std::vector<Fact>& facts, const Topology& t) {
  const Subject number{"tpcs", "GPU", "TPCs", "TPCs"};
  const Subject size{"sms_per_tpc", "TPC", "SMs", "SMs"};
  const Subject slowdown{"tpc_slowdown", "two SMs of a TPC", "bandwidth lost", "%"};
  const Subject agreement{"tpc_agreement", "TPCs by contention and by clusters of two", "agreement",
                          ""};
  const ContentionPairs& c = t.contention;
  const Labels& labels = t.tpcs();
  if (labels.empty()) {
    const std::string reason =
        fmt::format("contention: {}; clusters: {}", c.reason, t.cluster_pairs.reason);
    facts.push_back(missing(number, reason));
    facts.push_back(missing(size, reason));
  } else {
    const bool contention = c.reason.empty();
    std::string method =
        contention ? fmt::format(
                         "pairs that slow each other down: by {} streams, {:.0f} % of the "
                         "bandwidth alone, {:.0f} % where they are no pair",
                         c.instruction, 100 * c.slowdown, 100 * c.other_slowdown)
                   : "pairs that clusters of two blocks never break";
    if (t.gpcs().size() == labels.size()) {
      method += fmt::format("; {} of {} lie within one GPC", nested(labels, t.gpcs()),
                            number_of_groups(labels));
    }
    const auto add = [&](const Subject& s, double value) -> Fact& {
      facts.push_back(
          contention ? stated(s, value, method, c.matrix)
                     : stated(s, value, method, t.cluster_pairs.evidence, t.cluster_pairs.repeats));
      return facts.back();
    };
    add_published(add(number, number_of_groups(labels)), t.published_tpcs);
    add(size, fewest_and_most(labels).second);
  }
  if (!c.reason.empty()) {
    facts.push_back(missing(slowdown, c.reason));
  } else {
    facts.push_back(
        stated(slowdown, 100 * c.slowdown,
               fmt::format("both stream through the L2 by {}, median over pairs", c.instruction),
               c.matrix));
    facts.back().better = Better::lower;
  }
  const std::string reason = !c.reason.empty() ? c.reason : t.cluster_pairs.reason;
  if (!reason.empty() || c.labels.size() != t.cluster_pairs.labels.size()) {
    facts.push_back(missing(agreement, reason.empty() ? "they are of different SMs" : reason));
  } else {
    facts.push_back(
        with_bound_of_index(stated(agreement, adjusted_rand_index(c.labels, t.cluster_pairs.labels),
                                   "adjusted Rand index of pairs by contention and those that "
                                   "clusters of two blocks never break",
                                   c.matrix)));
  }
}

}  // namespace

const Labels& Topology::gpcs() const {
  static const Labels none;
  if (clusters.reason.empty()) return clusters.labels;
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
  return cluster_pairs.reason.empty() ? cluster_pairs.labels : none;
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
  t.lines = line_groups(entries);
  for (const Entry& entry : entries) {
    const auto published = [&](const char* name, double& value) {
      if (const auto found = entry.extras.find(name); found != entry.extras.end()) {
        value = found->second;
      }
    };
    published(published_gpcs, t.published_gpcs);
    published(published_tpcs, t.published_tpcs);
  }
  return t;
}

std::vector<Fact> facts_of(const Topology& topology) {
  std::vector<Fact> facts;
  for (const auto part : {add_gpcs, add_gpc_agreement, add_tpcs, add_partitions, add_latency_groups,
                          add_latencies, add_lines}) {
    part(facts, topology);
  }
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
