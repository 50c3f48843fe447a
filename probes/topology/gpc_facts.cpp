#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/names.h"
#include "probes/topology/groups.h"

// Facts of GPCs.

namespace fathom::topology {
namespace {

const Subject number{"gpcs", "GPU", "GPCs", "GPCs"};
const Subject fewest_sms{"sms_per_gpc_min", "smallest GPC", "SMs", "SMs"};
const Subject most_sms{"sms_per_gpc_max", "largest GPC", "SMs", "SMs"};
const Subject outside{"sms_outside_clusters", "GPU", "SMs that only clusters of two use", "SMs"};

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

bool left_out(const Topology& t, const std::vector<std::size_t>& group) {
  return t.clusters.reason.empty() && !t.joined.assigned &&
         std::ranges::find(t.clusters.outside, group.front()) != t.clusters.outside.end();
}

Matrix from(const ClusterGroups& c) { return {.evidence = c.evidence, .repeats = c.repeats}; }

void add_outside(std::vector<Fact>& facts, const Topology& t) {
  const ClusterGroups& c = t.clusters;
  std::string method =
      "no cluster joins them with SMs beyond their pair, although clusters join "
      "more elsewhere";
  if (!c.outside.empty()) {
    method = fmt::format("SM {}: {}; {}", ranges(c.outside), method, singleton_source);
    if (!t.joined.assigned) {
      method += fmt::format("; no GPC is stated for them: {}",
                            !t.joined.reason.empty() ? t.joined.reason
                                                     : "latencies do not agree with clusters on "
                                                       "the GPCs of the others");
    }
  }
  add(facts, outside, c.reason, static_cast<double>(c.outside.size()), method, from(c));
}

}  // namespace

void add_gpcs(std::vector<Fact>& facts, const Topology& t) {
  const Labels& labels = t.gpcs();
  if (labels.empty()) {
    const std::string reason =
        fmt::format("clusters: {}; latency: {}", t.clusters.reason,
                    t.latency.reason.empty() ? "its groups are the sides of the L2, no GPCs"
                                             : t.latency.reason);
    add_missing(facts, {number, fewest_sms, most_sms}, reason);
    add_outside(facts, t);
    return;
  }
  const Matrix& source = t.clusters.reason.empty() ? from(t.clusters) : t.loads;
  auto groups = members(labels);
  std::erase_if(groups, [&](const auto& group) { return left_out(t, group); });
  const auto [fewest, most] = std::ranges::minmax(groups, {}, &std::vector<std::size_t>::size);
  const std::string method = method_of(t);
  add_published(add(facts, number, "", static_cast<double>(groups.size()), method, source),
                t.published_gpcs);
  add(facts, fewest_sms, "", static_cast<double>(fewest.size()), method, source);
  add(facts, most_sms, "", static_cast<double>(most.size()), method, source);
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
            "adjusted Rand index of what clusters join in two halves of the launches", from(c));
  add_index(facts, "gpc_latency_reproducibility", "GPCs by latency, two sets of lines", l.reason,
            l.reproducibility,
            fmt::format("adjusted Rand index of GPCs by {} from one set of lines and the other's",
                        l.instructions),
            l.matrix);
}

// Facts of TPCs.

namespace {

/// Groups of `outer` that contain each group of `inner` whole, of all groups of `inner`.
int nested(const Labels& inner, const Labels& outer) {
  int whole = 0;
  for (const auto& group : members(inner)) {
    whole += std::ranges::all_of(
        group, [&](std::size_t sm) { return outer[sm] == outer[group.front()]; });
  }
  return whole;
}

std::string tpc_method_of(const Topology& t) {
  const ContentionPairs& c = t.contention;
  const ClusterPairs& p = t.cluster_pairs;
  std::string method =
      c.reason.empty()
          ? fmt::format(
                "pairs that slow each other down: by {} streams, {:.0f} % of the bandwidth "
                "alone, {:.0f} % where they are no pair",
                c.instruction, 100 * c.slowdown, 100 * c.other_slowdown)
          : fmt::format(
                "pairs that clusters of two blocks join, {}: at least {:.1f} % of an SM's "
                "clusters with its partner, at most {:.1f} % with any other SM",
                p.blocks_per_sm == 1
                    ? "in the first wave on an idle GPU with one block on each SM"
                    : fmt::format("with room for {} blocks on each SM", p.blocks_per_sm),
                100 * p.share, 100 * p.next_share);
  if (t.gpcs().size() == t.tpcs().size()) {
    method += fmt::format("; {} of {} lie within one GPC", nested(t.tpcs(), t.gpcs()),
                          number_of_groups(t.tpcs()));
  }
  return method;
}

}  // namespace

void add_tpcs(std::vector<Fact>& facts, const Topology& t) {
  const Subject number{"tpcs", "GPU", "TPCs", "TPCs"};
  const Subject size{"sms_per_tpc", "TPC", "SMs", "SMs"};
  const ContentionPairs& c = t.contention;
  const Labels& labels = t.tpcs();
  if (labels.empty()) {
    add_missing(facts, {number, size},
                fmt::format("contention: {}; clusters: {}", c.reason, t.cluster_pairs.reason));
  } else {
    const Matrix& matrix = c.reason.empty() ? c.matrix : t.cluster_pairs.matrix;
    const std::string method = tpc_method_of(t);
    const auto groups = members(labels);
    const auto largest = std::ranges::max(groups, {}, &std::vector<std::size_t>::size).size();
    add_published(add(facts, number, "", number_of_groups(labels), method, matrix),
                  t.published_tpcs);
    add(facts, size, "", static_cast<double>(largest), method, matrix);
  }
  add(facts, {"tpc_slowdown", "two SMs of a TPC", "bandwidth lost", "%"}, c.reason,
      100 * c.slowdown,
      fmt::format("both stream through the L2 by {}, median over pairs", c.instruction), c.matrix,
      Better::lower);
}

/// The second method for TPCs is the latencies' likeness, the third, where it shows any,
/// contention.
void add_tpc_agreement(std::vector<Fact>& facts, const Topology& t) {
  constexpr const char* others = "they are of different SMs";
  const ContentionPairs& c = t.contention;
  const ClusterPairs& p = t.cluster_pairs;
  const LatencyPairs& l = t.latency_pairs;
  const Labels& labels = t.tpcs();
  const auto agree = [](const std::string& reason, const Labels& a, const Labels& b) {
    return reason.empty() ? adjusted_rand_index(a, b) : 0;
  };
  std::string reason = labels.empty() ? "no TPCs are known" : l.reason;
  if (reason.empty() && l.pairs.labels.size() != labels.size()) reason = others;
  add_index(facts, "tpc_agreement", "TPCs and pairs by latency", reason,
            agree(reason, labels, l.pairs.labels),
            fmt::format("adjusted Rand index of TPCs and of pairs whose latencies are nearest to "
                        "each other's, line by line: {} of {} SMs have such a partner",
                        l.pairs.paired, labels.size()),
            l.matrix);
  reason = !c.reason.empty() ? c.reason : p.reason;
  if (reason.empty() && c.labels.size() != p.pairs.labels.size()) reason = others;
  add_index(facts, "tpc_contention_agreement", "TPCs by contention and by clusters of two", reason,
            agree(reason, c.labels, p.pairs.labels),
            "adjusted Rand index of pairs by contention and by clusters of two blocks", c.matrix);
  add_index(facts, "tpc_reproducibility", "TPCs by clusters of two, two halves", p.reason,
            p.reproducibility, "adjusted Rand index of the pairs from two halves of the launches",
            p.matrix);
}

}  // namespace fathom::topology
