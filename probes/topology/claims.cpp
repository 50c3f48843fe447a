#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "probes/topology/groups.h"
#include "results/statistics.h"

namespace fathom::topology {
namespace {

/// "0-3, 8, 10-11".
std::string ranges(const Members& numbers) {
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

struct Facts {
  std::vector<Fact> all{};

  /// Adds a fact, whose id is "topology." and the name's: a value from the groups' matrix, or none
  /// for their reason.
  Fact& add(Fact name, const Groups& of, double value, std::string method) {
    name.id = "topology." + name.id;
    Fact& fact = all.emplace_back(std::move(name));
    fact.reason = of.reason;
    if (!of.reason.empty()) return fact;
    fact.value = value;
    fact.method = std::move(method);
    fact.evidence = of.matrix.evidence;
    fact.repeats = of.matrix.repeats;
    fact.counters = of.matrix.counters;
    return fact;
  }

  void add_index(const char* id, const char* subject, const Groups& groups, double value,
                 const std::string& of) {
    Fact& fact = add({id, subject, "agreement", ""}, groups, value, "adjusted Rand index" + of);
    if (fact.value) fact.bound = Bound{1, "two groupings that are the same"};
  }
};

std::pair<std::size_t, std::size_t> sizes_of(const std::vector<Members>& groups) {
  if (groups.empty()) return {};
  const auto [fewest, most] = std::ranges::minmax(groups, {}, &Members::size);
  return {fewest.size(), most.size()};
}

void add_gpcs(Facts& facts, const Topology& t) {
  const ClusterGroups& c = t.clusters;
  const Gpcs& j = t.joined;
  const bool by_clusters = c.reason.empty();
  Groups source{.matrix = by_clusters ? c.matrix : t.latency.matrix};
  std::string method;
  if (t.gpcs.empty())
    source.reason =
        fmt::format("clusters: {}; latency: {}", c.reason,
                    t.latency.reason.empty() ? "its groups are the sides of the L2, no GPCs"
                                             : t.latency.reason);
  if (by_clusters) {
    method = "clusters of 2 to 16 blocks run within one GPC: SMs that they have in common";
    if (!c.outside.empty())
      method += j.assigned
                    ? "; SMs that clusters leave out are in the GPC that is theirs by latency"
                    : "; SMs that clusters leave out are in none";
  } else {
    method =
        fmt::format("SMs whose {} latencies to L2 lines rise and fall together", load_instruction);
  }
  const auto [fewest, most] = sizes_of(t.known_gpcs);
  for (const auto& [id, subject, unit, value] :
       {std::tuple{"gpcs", "GPU", "GPCs", t.known_gpcs.size()},
        {"sms_per_gpc_min", "smallest GPC", "SMs", fewest},
        {"sms_per_gpc_max", "largest GPC", "SMs", most}})
    facts.add({id, subject, unit, unit}, source, static_cast<double>(value), method);

  method =
      "no cluster joins them with SMs beyond their pair, although clusters join more elsewhere";
  if (!c.outside.empty())
    method = fmt::format(
        "SM {}: {}; NVIDIA's driver numbers some TPCs apart from the GPCs, as singletons (open GPU "
        "kernel modules, ctrl2080gr.h, virtualGpcId)",
        ranges(c.outside), method);
  if (!c.outside.empty() && !j.assigned)
    method += "; no GPC is stated for them: " +
              (j.reason.empty() ? "latencies do not agree with clusters on the GPCs of the others"
                                : j.reason);
  facts.add({"sms_outside_clusters", "GPU", "SMs that only clusters of two use", "SMs"}, c,
            static_cast<double>(c.outside.size()), method);

  for (std::size_t g = 0; g < t.known_gpcs.size(); ++g) {
    const Members& group = t.known_gpcs[g];
    Members added;
    std::ranges::set_intersection(group, c.outside, std::back_inserter(added));
    method = "SM " + ranges(group);
    if (j.assigned && !added.empty())
      method += fmt::format(
          ", of which {} by {} latencies alone: what is left of them correlates with the others of "
          "this GPC ({:.2f}) and not with the next one ({:.2f}), medians",
          ranges(added), j.instructions, j.own, j.other);
    facts.add({fmt::format("gpc_{}.sms", g), fmt::format("GPC {}", g), "SMs", "SMs"}, source,
              static_cast<double>(group.size()), method);
  }

  facts.add_index(
      "gpc_agreement", "GPCs by clusters and by latency", j, j.agreement,
      fmt::format(", over SMs within the reach of clusters, of their GPCs and of those by {} "
                  "latencies: SMs cut into half as many regions as clusters show GPCs, what each "
                  "place's own additive model leaves grouped within each region",
                  j.instructions));
  Groups halves{.matrix = c.matrix, .reason = c.reason};
  if (by_clusters && !c.has_halves) halves.reason = "one half of the launches was left out";
  facts.add_index("gpc_reproducibility", "GPCs by clusters, two halves", halves, c.reproducibility,
                  " of what clusters join in two halves of the launches");
  facts.add_index(
      "gpc_latency_reproducibility", "GPCs by latency, two sets of lines", j, j.reproducibility,
      fmt::format(" of GPCs by {} from one set of lines and the other's", j.instructions));
}

void add_tpcs(Facts& facts, const Topology& t) {
  const SmPairs &p = t.cluster_pairs, &l = t.latency_pairs;
  const auto groups = members(t.tpcs);
  std::string method = fmt::format(
      "pairs that clusters of two blocks join, with room for {} blocks on each SM: at least {:.1f} "
      "% of an SM's clusters with its partner, at most {:.1f} % with any other SM",
      pair_blocks_per_sm, 100 * p.share, 100 * p.next_share);
  if (t.gpcs.size() == t.tpcs.size()) {
    const auto within = [&](const Members& group) {
      return std::ranges::all_of(
          group, [&](std::size_t sm) { return t.gpcs[sm] == t.gpcs[group.front()]; });
    };
    method += fmt::format("; {} of {} lie within one GPC", std::ranges::count_if(groups, within),
                          groups.size());
  }
  facts.add({"tpcs", "GPU", "TPCs", "TPCs"}, p, static_cast<double>(groups.size()), method);
  facts.add({"sms_per_tpc", "TPC", "SMs", "SMs"}, p, static_cast<double>(sizes_of(groups).second),
            method);

  Groups both{.matrix = l.matrix, .reason = t.tpcs.empty() ? "no TPCs are known" : l.reason};
  if (both.reason.empty() && l.labels.size() != t.tpcs.size())
    both.reason = "they are of different SMs";
  facts.add_index("tpc_agreement", "TPCs and pairs by latency", both,
                  both.reason.empty() ? adjusted_rand_index(t.tpcs, l.labels) : 0,
                  fmt::format(" of TPCs and of pairs whose latencies are nearest to "
                              "each other's, line by line: {} of {} SMs have such a partner",
                              l.paired, t.tpcs.size()));
  facts.add_index("tpc_reproducibility", "TPCs by clusters of two, two halves", p,
                  p.reproducibility, " of the pairs from two halves of the launches");
}

void add_partitions(Facts& facts, const Topology& t) {
  const Partitions& p = t.partitions;
  const bool known = p.reason.empty();
  const auto sides = known ? members(p.labels) : std::vector<Members>(2);
  facts.add(
      {"l2_partitions", "L2", "partitions", "partitions"}, p, static_cast<double>(sides.size()),
      fmt::format("{} latencies: to which lines an SM is near and to which far, of whose variance "
                  "that is {:.2f}",
                  p.instruction, p.separation));
  for (std::size_t side = 0; side < sides.size(); ++side) {
    const char name = static_cast<char>('a' + side);
    facts.add({fmt::format("sms_near_partition_{}", name), fmt::format("L2 partition {}", name),
               "SMs near it", "SMs"},
              p, static_cast<double>(sides[side].size()),
              known ? fmt::format("SM {}; nearest to {} of {} lines", ranges(sides[side]),
                                  p.lines[side], p.matrix.rows.front().size())
                    : "");
  }
  Fact& penalty = facts.add(
      {"partition_penalty", "far partition of the L2", "added latency", "cycles"}, p, p.penalty,
      fmt::format("{}, mean over lines of the far side's SMs less the near side's", p.instruction));
  if (known) penalty.better = Better::lower;
  facts.add_index("partition_reproducibility", "SMs by L2 partition, two sets of lines", p,
                  p.reproducibility, " of the groups from one set of lines and the other's");
}

void add_latencies(Facts& facts, const Topology& t) {
  const LatencyGroups& l = t.latency;
  const Matrix& loads = l.matrix;
  facts.add({"latency_groups", "SMs by latency", "groups", "groups"}, l, l.fit.groups,
            fmt::format(
                "correlation of {} latencies, average linkage; fewest groups at a peak of the "
                "silhouette ({:.2f}) within two standard errors of the widest ({:.2f}, {} groups)",
                load_instruction, l.fit.silhouette, l.fit.widest_silhouette, l.fit.widest));
  facts.add_index("reproducibility", "SMs by latency, two sets of lines",
                  {.matrix = loads, .reason = l.labels.empty() ? l.reason : ""}, l.reproducibility,
                  fmt::format(" of {} groups from one set of lines and as many from "
                              "another, each grouped by itself",
                              l.fit.groups));
  std::vector<double> means;
  for (const auto& row : loads.rows) means.push_back(interquartile_mean(row));
  const auto [low, high] = std::ranges::minmax_element(means);
  for (const auto& [name, at] : {std::pair{"nearest", low}, {"farthest", high}}) {
    const bool known = loads.reason.empty();
    facts.add(
        {fmt::format("l2_latency_{}_sm", name), fmt::format("L2, {} SM", name), "latency", "cycles",
         Better::lower},
        {.matrix = loads, .reason = loads.reason}, known ? *at : 0,
        fmt::format("SM {}: {} of single lines, interquartile mean over {} of them",
                    at - means.begin(), load_instruction, known ? loads.rows.front().size() : 0));
  }
}

/// By partition, GPC and TPC.
std::vector<AxisValue> order_of_sms(const Topology& t) {
  const Labels sides = t.partitions.reason.empty() ? t.partitions.labels : Labels{};
  std::vector<std::int64_t> order(
      std::max({t.latency.matrix.rows.size(), t.gpcs.size(), t.tpcs.size(), sides.size()}));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, {}, [&](std::int64_t sm) {
    // A run that was cut short may know groups of fewer SMs.
    const auto label = [&](const Labels& labels) {
      return labels.size() == order.size() ? labels[static_cast<std::size_t>(sm)] : 0;
    };
    return std::tuple(label(sides), label(t.gpcs), label(t.tpcs));
  });
  return {order.begin(), order.end()};
}

std::vector<View> views(const Topology& t) {
  const std::vector<AxisValue> order = order_of_sms(t);
  const auto latencies = [&](const char* title, const char* note, const char* instruction) {
    return View{.kind = View::Kind::heat_map,
                .title = title,
                .note = note,
                .where = {{"sweep", {latency_sweep}},
                          {"instruction", {instruction}},
                          {"lines", {set_names[0]}}},
                .x = "profile",
                .x_label = "L2 line",
                .y_label = "Latency (cycles)",
                .y_axis = "SM",
                .row_order = order};
  };
  std::vector<View> all{
      latencies("Latency of L2 lines from each SM",
                "SMs from the top by partition of the L2, GPC and TPC.", load_instruction),
      latencies("Latency of atomics on L2 lines from each SM",
                "An atomic goes to the line's home, wherever the nearest copy is. SMs in the same "
                "order.",
                atomic_instruction),
      table("SMs that clusters join", {{"sweep", {cluster_sweep}}},
            {"cluster size", "blocks per SM", "metric", "extra:sms_seen", "verdict"},
            "Groups that remain when SMs that blocks of one cluster ran on are one; several blocks "
            "on an SM mix them more.")};
  // The one in which more is to be seen.
  all[t.partitions.reason.empty() && t.partitions.by_atomics()].overview = true;
  return all;
}

std::string answer(const Topology& t) {
  std::vector<std::string> parts;
  if (!t.known_gpcs.empty()) {
    const auto [fewest, most] = sizes_of(t.known_gpcs);
    std::size_t placed = 0;
    for (const Members& group : t.known_gpcs) placed += group.size();
    std::string& text = parts.emplace_back(fmt::format("{} SMs sit in {} GPCs of {} to {} SMs",
                                                       placed, t.known_gpcs.size(), fewest, most));
    if (!t.clusters.outside.empty())
      text += fmt::format(", {} {}out of the reach of clusters larger than two",
                          t.clusters.outside.size(), t.joined.assigned ? "of them " : "more ");
  }
  if (!t.tpcs.empty()) parts.push_back(fmt::format("the SMs make {} TPCs", members(t.tpcs).size()));
  if (const Partitions& p = t.partitions; p.reason.empty()) {
    std::vector<std::size_t> sizes;
    for (const auto& side : members(p.labels)) sizes.push_back(side.size());
    parts.push_back(fmt::format(
        "the L2 has {} partitions with {} SMs near to each, and the far one costs {} {:.0f} cycles "
        "more",
        sizes.size(), fmt::join(sizes, " and "), p.by_atomics() ? "an atomic" : "a load",
        p.penalty));
  } else if (t.latency.reason.empty()) {
    parts.push_back(
        fmt::format("by their latencies the SMs fall into {} groups", t.latency.fit.groups));
  }
  return parts.empty() ? "" : fmt::format("{}.", fmt::join(parts, "; "));
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  const Topology topology = topology_of(entries);
  Facts facts;
  for (const auto add : {add_gpcs, add_tpcs, add_partitions, add_latencies}) add(facts, topology);
  return {.answer = answer(topology), .views = views(topology), .facts = std::move(facts.all)};
}

}  // namespace fathom::topology
