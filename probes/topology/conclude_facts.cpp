#include "probes/topology/conclude_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/names.h"
#include "results/statistics.h"

namespace fathom::topology {
namespace {

constexpr const char* whole_index = "two groupings that are the same";

struct Subject {
  std::string id, subject, quantity, unit;
};

Fact missing(const Subject& s, std::string reason) {
  Fact fact;
  fact.id = "topology." + s.id;
  fact.subject = s.subject;
  fact.quantity = s.quantity;
  fact.unit = s.unit;
  fact.reason = std::move(reason);
  return fact;
}

Fact stated(const Subject& s, double value, std::string method, std::vector<std::string> evidence,
            int repeats) {
  Fact fact = missing(s, "");
  fact.value = value;
  fact.method = std::move(method);
  fact.evidence = std::move(evidence);
  fact.repeats = repeats;
  return fact;
}

Fact stated(const Subject& s, double value, std::string method, const Matrix& matrix) {
  Fact fact = stated(s, value, std::move(method), matrix.evidence, matrix.repeats);
  fact.counters = matrix.counters;
  return fact;
}

Fact with_bound_of_index(Fact fact) {
  fact.bound = Bound{1, whole_index};
  return fact;
}

void add_published(Fact& fact, double published) {
  if (published > 0) fact.published = Published{published, published_source};
}

/// Groups of `outer` that contain each group of `inner` whole, of all groups of `inner`.
int nested(const Labels& inner, const Labels& outer) {
  int whole = 0;
  for (const auto& group : members(inner)) {
    whole += std::ranges::all_of(
        group, [&](std::size_t sm) { return outer[sm] == outer[group.front()]; });
  }
  return whole;
}

std::pair<double, double> fewest_and_most(const Labels& labels) {
  const auto groups = members(labels);
  const auto [fewest, most] = std::ranges::minmax(
      groups, {}, [](const std::vector<std::size_t>& group) { return group.size(); });
  return {static_cast<double>(fewest.size()), static_cast<double>(most.size())};
}

const Subject gpcs{"gpcs", "GPCs", "number", "GPCs"};
const Subject gpc_fewest{"sms_per_gpc_min", "smallest GPC", "SMs", "SMs"};
const Subject gpc_most{"sms_per_gpc_max", "largest GPC", "SMs", "SMs"};

void add_gpcs(std::vector<Fact>& facts, const Topology& t) {
  const Labels& labels = t.gpcs();
  if (labels.empty()) {
    const std::string reason =
        fmt::format("clusters: {}; latency: {}", t.clusters.reason, t.latency.reason);
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
  const Subject s{"gpc_agreement", "GPCs by clusters and by latency", "adjusted Rand index", ""};
  const std::string reason = !t.clusters.reason.empty() ? t.clusters.reason : t.loads.reason;
  if (!reason.empty() || t.loads.rows.size() != t.clusters.labels.size()) {
    facts.push_back(missing(s, reason.empty() ? "they are of different SMs" : reason));
    return;
  }
  const int groups = number_of_groups(t.clusters.labels);
  const Labels by_latency = Dendrogram(correlation_distances(double_centred(t.loads.rows)))
                                .cut(static_cast<std::size_t>(groups));
  facts.push_back(with_bound_of_index(
      stated(s, adjusted_rand_index(t.clusters.labels, by_latency),
             fmt::format("correlation of {} latencies to {} lines, average linkage cut into as many "
                         "groups as clusters show",
                         load_instruction, t.loads.rows.front().size()),
             t.loads)));
}

void add_tpcs(std::vector<Fact>& facts, const Topology& t) {
  const Subject number{"tpcs", "TPCs", "number", "TPCs"};
  const Subject size{"sms_per_tpc", "TPC", "SMs", "SMs"};
  const Subject slowdown{"tpc_slowdown", "SM beside the other of its TPC", "bandwidth lost", "%"};
  const Subject agreement{"tpc_agreement", "TPCs by contention and by clusters of two",
                          "adjusted Rand index", ""};
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
        contention ? fmt::format("pairs that slow each other down: by {} streams, {:.0f} % of the "
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
    facts.push_back(stated(slowdown, 100 * c.slowdown,
                           fmt::format("both stream through the L2 by {}, median over pairs",
                                       c.instruction),
                           c.matrix));
    facts.back().better = Better::lower;
  }
  const std::string reason = !c.reason.empty() ? c.reason : t.cluster_pairs.reason;
  if (!reason.empty() || c.labels.size() != t.cluster_pairs.labels.size()) {
    facts.push_back(missing(agreement, reason.empty() ? "they are of different SMs" : reason));
  } else {
    facts.push_back(with_bound_of_index(
        stated(agreement, adjusted_rand_index(c.labels, t.cluster_pairs.labels),
               "pairs by contention against those that clusters of two blocks never break",
               c.matrix)));
  }
}

void add_partitions(std::vector<Fact>& facts, const Topology& t) {
  const Partitions& p = t.partitions;
  const Subject number{"l2_partitions", "L2", "partitions", "partitions"};
  const Subject penalty{"partition_penalty", "L2, the other partition", "added latency", "cycles"};
  const Subject again{"partition_reproducibility", "SMs by L2 partition, two sets of lines",
                      "adjusted Rand index", ""};
  const auto near = [](char side) {
    return Subject{fmt::format("sms_near_partition_{}", side),
                   fmt::format("SMs near partition {} of the L2", side), "number", "SMs"};
  };
  if (!p.reason.empty()) {
    for (const Subject& s : {number, near('a'), near('b'), penalty, again}) {
      facts.push_back(missing(s, p.reason));
    }
    return;
  }
  facts.push_back(stated(
      number, number_of_groups(p.labels),
      fmt::format("{} latencies: to which lines an SM is near and to which far, of whose variance "
                  "that is {:.2f}",
                  p.instruction, p.separation),
      p.matrix));
  const auto sides = members(p.labels);
  for (std::size_t side = 0; side < sides.size(); ++side) {
    facts.push_back(stated(near(static_cast<char>('a' + side)),
                           static_cast<double>(sides[side].size()),
                           fmt::format("SM {}; nearest to {} of {} lines", ranges(sides[side]),
                                       p.lines[side], p.matrix.rows.front().size()),
                           p.matrix));
  }
  facts.push_back(stated(penalty, p.penalty,
                         fmt::format("{}, mean over lines of the far side's SMs less the near "
                                     "side's",
                                     p.instruction),
                         p.matrix));
  facts.back().better = Better::lower;
  facts.push_back(with_bound_of_index(
      stated(again, p.reproducibility, "the groups from one set of lines against the other's",
             p.matrix)));
}

void add_latency_groups(std::vector<Fact>& facts, const Topology& t) {
  const LatencyGroups& l = t.latency;
  const Subject number{"latency_groups", "SMs of like latencies", "groups", "groups"};
  const Subject again{"reproducibility", "SMs by latency, two sets of lines",
                      "adjusted Rand index", ""};
  if (l.groups.labels.empty()) {
    for (const Subject& s : {number, again}) facts.push_back(missing(s, l.reason));
    return;
  }
  if (!l.reason.empty()) {
    facts.push_back(missing(number, l.reason));
  } else {
    facts.push_back(stated(
        number, l.groups.groups,
        fmt::format("correlation of {} latencies, average linkage, widest silhouette ({:.2f})",
                    load_instruction, l.groups.silhouette),
        t.loads));
  }
  facts.push_back(with_bound_of_index(
      stated(again, l.reproducibility,
             fmt::format("{} groups from one set of lines against {} from another, each grouped by "
                         "itself",
                         l.groups_of_set[0], l.groups_of_set[1]),
             t.loads)));
}

void add_latencies(std::vector<Fact>& facts, const Topology& t) {
  const Subject nearest{"l2_latency_nearest_sm", "L2 from the SM that is nearest to it", "latency",
                        "cycles"};
  const Subject farthest{"l2_latency_farthest_sm", "L2 from the SM that is farthest from it",
                         "latency", "cycles"};
  if (!t.loads.reason.empty()) {
    facts.push_back(missing(nearest, t.loads.reason));
    facts.push_back(missing(farthest, t.loads.reason));
  } else {
    std::vector<double> means;
    for (const auto& row : t.loads.rows) means.push_back(interquartile_mean(row));
    const auto [low, high] = std::ranges::minmax_element(means);
    for (const auto& [s, at] : {std::pair{nearest, low}, {farthest, high}}) {
      facts.push_back(stated(s, *at,
                             fmt::format("SM {}: {} of single lines, interquartile mean over {} of "
                                         "them",
                                         at - means.begin(), load_instruction,
                                         t.loads.rows.front().size()),
                             t.loads));
    }
  }
  for (Fact& fact : std::span(facts).last(2)) fact.better = Better::lower;
}

void add_lines(std::vector<Fact>& facts, const Topology& t) {
  const Subject s{"l2_line_groups", "L2 lines that the same SMs are near", "groups", "groups"};
  if (!t.lines.reason.empty()) {
    facts.push_back(missing(s, t.lines.reason));
    return;
  }
  facts.push_back(stated(s, t.lines.groups,
                         fmt::format("correlation of {} latencies over the SMs, average linkage, "
                                     "widest silhouette; even and odd SMs agree to an adjusted Rand "
                                     "index of {:.2f}",
                                     load_instruction, t.lines.agreement),
                         t.lines.matrix));
}

}  // namespace

const Labels& Topology::gpcs() const {
  static const Labels none;
  if (clusters.reason.empty()) return clusters.labels;
  return latency.reason.empty() ? latency.groups.labels : none;
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
  t.latency = latency_groups(entries, load_instruction, 2, std::max<std::size_t>(
                                                               2, t.loads.rows.size() / 2));
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
  for (const auto part : {add_gpcs, add_gpc_agreement, add_tpcs, add_partitions,
                          add_latency_groups, add_latencies, add_lines}) {
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
