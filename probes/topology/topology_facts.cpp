#include "probes/topology/groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/names.h"
#include "results/statistics.h"

namespace fathom::topology {

Labels Topology::gpcs() const {
  if (clusters.reason.empty()) return joined.labels;
  const bool sides_only = partitions.reason.empty() &&
                          latency.labels.size() == partitions.labels.size() &&
                          adjusted_rand_index(latency.labels, partitions.labels) >= same_groups;
  return latency.reason.empty() && !sides_only ? latency.labels : Labels{};
}

Labels Topology::tpcs() const {
  return cluster_pairs.reason.empty() ? cluster_pairs.labels : Labels{};
}

std::vector<std::vector<std::size_t>> Topology::known_gpcs() const {
  return clusters.reason.empty() && !joined.assigned ? clusters.inside() : members(gpcs());
}

Topology topology_of(std::span<const Entry> entries) {
  Topology t;
  t.clusters = gpcs_by_clusters(entries);
  t.latency = latency_groups(entries, load_instruction, GroupedBy::latency);
  t.partitions = l2_partitions(entries);
  t.cluster_pairs = pairs_by_clusters(entries);
  t.latency_pairs = pairs_by_latency(entries);
  t.latency_gpcs.reason = t.clusters.reason;
  if (t.clusters.reason.empty()) {
    t.latency_gpcs = gpcs_by_latency(entries, t.clusters.inside().size());
    t.joined = joined_gpcs(t.clusters, t.latency_gpcs);
  }
  return t;
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

namespace {

// How facts of this probe are put together.

/// Adds a fact, whose id is "topology." and the name's: a value from the matrix' entries, with its
/// counters, or none for `reason`.
void add(std::vector<Fact>& facts, const FactName& name, const std::string& reason, double value,
         std::string method, const Matrix& matrix) {
  Fact& fact = facts.emplace_back(named_fact(name));
  fact.id = "topology." + name.id;
  fact.reason = reason;
  if (!reason.empty()) return;
  fact.value = value;
  fact.method = std::move(method);
  fact.evidence = matrix.evidence;
  fact.repeats = matrix.repeats;
  fact.counters = matrix.counters;
}

/// An adjusted Rand index, which is 1 at most.
void add_index(std::vector<Fact>& facts, const char* id, const char* subject,
               const std::string& reason, double value, const std::string& method,
               const Matrix& matrix) {
  add(facts, {id, subject, "agreement", ""}, reason, value, method, matrix);
  if (reason.empty()) facts.back().bound = Bound{1, "two groupings that are the same"};
}

/// The fewest and the most members of a group; of no groups 0.
std::pair<double, double> sizes_of(const std::vector<std::vector<std::size_t>>& groups) {
  if (groups.empty()) return {};
  const auto [fewest, most] = std::ranges::minmax(groups, {}, &std::vector<std::size_t>::size);
  return {static_cast<double>(fewest.size()), static_cast<double>(most.size())};
}

// Facts of GPCs.

std::string method_of(const Topology& t) {
  if (!t.clusters.reason.empty()) {
    return fmt::format("SMs whose {} latencies to L2 lines rise and fall together",
                       load_instruction);
  }
  std::string method =
      "clusters of 2 to 16 blocks run within one GPC: SMs that they have in common";
  if (t.clusters.outside.empty()) return method;
  return method + (t.joined.assigned ? "; SMs that clusters leave out are in the GPC that is "
                                       "theirs by latency"
                                     : "; SMs that clusters leave out are in none");
}

/// "SM 0-1, 16-17", and where latencies had to say so.
std::string where(const Topology& t, const std::vector<std::size_t>& group) {
  std::string text = "SM " + ranges(group);
  if (!t.clusters.reason.empty() || !t.joined.assigned) return text;
  std::vector<std::size_t> added;
  std::ranges::set_intersection(group, t.clusters.outside, std::back_inserter(added));
  if (added.empty()) return text;
  return text + fmt::format(
                    ", of which {} by {} latencies alone: what is left of them correlates with the "
                    "others of this GPC ({:.2f}) and not with the next one ({:.2f}), medians",
                    ranges(added), t.latency_gpcs.instructions, t.joined.own, t.joined.other);
}

void add_outside(std::vector<Fact>& facts, const Topology& t) {
  const ClusterGroups& c = t.clusters;
  std::string method =
      "no cluster joins them with SMs beyond their pair, although clusters join "
      "more elsewhere";
  if (!c.outside.empty()) {
    method = fmt::format(
        "SM {}: {}; NVIDIA's driver numbers some TPCs apart from the GPCs, as singletons (open GPU "
        "kernel modules, ctrl2080gr.h, virtualGpcId)",
        ranges(c.outside), method);
    if (!t.joined.assigned) {
      method += fmt::format("; no GPC is stated for them: {}",
                            !t.joined.reason.empty() ? t.joined.reason
                                                     : "latencies do not agree with clusters on "
                                                       "the GPCs of the others");
    }
  }
  add(facts, {"sms_outside_clusters", "GPU", "SMs that only clusters of two use", "SMs"}, c.reason,
      static_cast<double>(c.outside.size()), method, c.matrix);
}

void add_gpcs(std::vector<Fact>& facts, const Topology& t) {
  const std::string reason =
      !t.gpcs().empty()
          ? ""
          : fmt::format("clusters: {}; latency: {}", t.clusters.reason,
                        t.latency.reason.empty() ? "its groups are the sides of the L2, no GPCs"
                                                 : t.latency.reason);
  const Matrix& source = t.clusters.reason.empty() ? t.clusters.matrix : t.latency.matrix;
  const auto groups = t.known_gpcs();
  const auto [fewest, most] = sizes_of(groups);
  const std::string method = method_of(t);
  add(facts, {"gpcs", "GPU", "GPCs", "GPCs"}, reason, static_cast<double>(groups.size()), method,
      source);
  add(facts, {"sms_per_gpc_min", "smallest GPC", "SMs", "SMs"}, reason, fewest, method, source);
  add(facts, {"sms_per_gpc_max", "largest GPC", "SMs", "SMs"}, reason, most, method, source);
  add_outside(facts, t);
  for (std::size_t g = 0; g < groups.size(); ++g)
    add(facts, {fmt::format("gpc_{}.sms", g), fmt::format("GPC {}", g), "SMs", "SMs"}, "",
        static_cast<double>(groups[g].size()), where(t, groups[g]), source);
}

void add_gpc_agreement(std::vector<Fact>& facts, const Topology& t) {
  const ClusterGroups& c = t.clusters;
  const LatencyGpcs& l = t.latency_gpcs;
  add_index(facts, "gpc_agreement", "GPCs by clusters and by latency",
            !c.reason.empty() ? c.reason : t.joined.reason, t.joined.agreement,
            fmt::format("adjusted Rand index, over SMs within the reach of clusters, of their GPCs "
                        "and of those by {} latencies: SMs cut into half as many regions as "
                        "clusters show GPCs, what each place's own additive model leaves grouped "
                        "within each region",
                        l.instructions),
            l.matrix);
  add_index(facts, "gpc_reproducibility", "GPCs by clusters, two halves",
            c.reproducibility   ? ""
            : !c.reason.empty() ? c.reason
                                : "one half of the launches was left out",
            c.reproducibility.value_or(0),
            "adjusted Rand index of what clusters join in two halves of the launches", c.matrix);
  add_index(facts, "gpc_latency_reproducibility", "GPCs by latency, two sets of lines", l.reason,
            l.reproducibility,
            fmt::format("adjusted Rand index of GPCs by {} from one set of lines and the other's",
                        l.instructions),
            l.matrix);
}

// Facts of TPCs.

/// Groups of `inner` that lie whole within one of `outer`.
std::ptrdiff_t nested(const Labels& inner, const Labels& outer) {
  return std::ranges::count_if(members(inner), [&](const auto& group) {
    return std::ranges::all_of(group,
                               [&](std::size_t sm) { return outer[sm] == outer[group.front()]; });
  });
}

std::string tpc_method_of(const Topology& t) {
  const ClusterPairs& p = t.cluster_pairs;
  std::string method = fmt::format(
      "pairs that clusters of two blocks join, with room for {} blocks on each SM: at least {:.1f} "
      "% of an SM's clusters with its partner, at most {:.1f} % with any other SM",
      pair_blocks_per_sm, 100 * p.share, 100 * p.next_share);
  if (t.gpcs().size() == t.tpcs().size()) {
    method += fmt::format("; {} of {} lie within one GPC", nested(t.tpcs(), t.gpcs()),
                          number_of_groups(t.tpcs()));
  }
  return method;
}

void add_tpcs(std::vector<Fact>& facts, const Topology& t) {
  const ClusterPairs& p = t.cluster_pairs;
  const auto groups = members(t.tpcs());
  const std::string method = tpc_method_of(t);
  add(facts, {"tpcs", "GPU", "TPCs", "TPCs"}, p.reason, static_cast<double>(groups.size()), method,
      p.matrix);
  add(facts, {"sms_per_tpc", "TPC", "SMs", "SMs"}, p.reason, sizes_of(groups).second, method,
      p.matrix);
}

/// The second method for TPCs is the latencies' likeness.
void add_tpc_agreement(std::vector<Fact>& facts, const Topology& t) {
  const ClusterPairs& p = t.cluster_pairs;
  const PairLabels& l = t.latency_pairs;
  const Labels labels = t.tpcs();
  std::string reason = labels.empty() ? "no TPCs are known" : l.reason;
  if (reason.empty() && l.labels.size() != labels.size())
    reason = "they are of different SMs";
  add_index(facts, "tpc_agreement", "TPCs and pairs by latency", reason,
            reason.empty() ? adjusted_rand_index(labels, l.labels) : 0,
            fmt::format("adjusted Rand index of TPCs and of pairs whose latencies are nearest to "
                        "each other's, line by line: {} of {} SMs have such a partner",
                        l.paired, labels.size()),
            l.matrix);
  add_index(facts, "tpc_reproducibility", "TPCs by clusters of two, two halves", p.reason,
            p.reproducibility, "adjusted Rand index of the pairs from two halves of the launches",
            p.matrix);
}

// Facts of the L2 and of latencies.

void add_partitions(std::vector<Fact>& facts, const Topology& t) {
  const Partitions& p = t.partitions;
  const bool known = p.reason.empty();
  const auto sides = known ? members(p.labels) : std::vector<std::vector<std::size_t>>(2);
  add(facts, {"l2_partitions", "L2", "partitions", "partitions"}, p.reason,
      static_cast<double>(sides.size()),
      fmt::format("{} latencies: to which lines an SM is near and to which far, of whose variance "
                  "that is {:.2f}",
                  p.instruction, p.separation),
      p.matrix);
  for (std::size_t side = 0; side < sides.size(); ++side) {
    const char name = static_cast<char>('a' + side);
    add(facts,
        {fmt::format("sms_near_partition_{}", name), fmt::format("L2 partition {}", name),
         "SMs near it", "SMs"},
        p.reason, static_cast<double>(sides[side].size()),
        known ? fmt::format("SM {}; nearest to {} of {} lines", ranges(sides[side]), p.lines[side],
                            p.matrix.rows.front().size())
              : "",
        p.matrix);
  }
  add(facts, {"partition_penalty", "far partition of the L2", "added latency", "cycles"}, p.reason,
      p.penalty,
      fmt::format("{}, mean over lines of the far side's SMs less the near side's", p.instruction),
      p.matrix);
  if (known) facts.back().better = Better::lower;
  add_index(facts, "partition_reproducibility", "SMs by L2 partition, two sets of lines", p.reason,
            p.reproducibility,
            "adjusted Rand index of the groups from one set of lines and the other's", p.matrix);
}

void add_latency_groups(std::vector<Fact>& facts, const Topology& t) {
  const LatencyGroups& l = t.latency;
  add(facts, {"latency_groups", "SMs by latency", "groups", "groups"}, l.reason, l.groups,
      fmt::format(
          "correlation of {} latencies, average linkage; fewest groups at a peak of the "
          "silhouette ({:.2f}) within two standard errors of the widest ({:.2f}, {} groups)",
          load_instruction, l.silhouette, l.widest_silhouette, l.widest),
      l.matrix);
  add_index(facts, "reproducibility", "SMs by latency, two sets of lines",
            l.labels.empty() ? l.reason : "", l.reproducibility,
            fmt::format("adjusted Rand index of {} groups from one set of lines and as many from "
                        "another, each grouped by itself",
                        l.groups),
            l.matrix);
}

void add_latencies(std::vector<Fact>& facts, const Topology& t) {
  const Matrix& loads = t.latency.matrix;
  std::vector<double> means;
  for (const auto& row : loads.rows) means.push_back(interquartile_mean(row));
  const auto [low, high] = std::ranges::minmax_element(means);
  for (const auto& [name, at] : {std::pair{"nearest", low}, {"farthest", high}}) {
    const bool known = loads.reason.empty();
    add(facts,
        {fmt::format("l2_latency_{}_sm", name), fmt::format("L2, {} SM", name), "latency", "cycles",
         Better::lower},
        loads.reason, known ? *at : 0,
        fmt::format("SM {}: {} of single lines, interquartile mean over {} of them",
                    at - means.begin(), load_instruction, known ? loads.rows.front().size() : 0),
        loads);
  }
}

}  // namespace

std::vector<Fact> facts_of(const Topology& topology) {
  std::vector<Fact> facts;
  for (const auto part : {add_gpcs, add_gpc_agreement, add_tpcs, add_tpc_agreement, add_partitions,
                          add_latency_groups, add_latencies})
    part(facts, topology);
  return facts;
}

}  // namespace fathom::topology
