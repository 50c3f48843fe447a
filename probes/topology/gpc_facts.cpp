#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/fact_parts.h"
#include "probes/topology/names.h"
#include "probes/topology/topology_facts.h"

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

}  // namespace fathom::topology
