#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/fact_parts.h"
#include "probes/topology/topology_facts.h"

// Facts of TPCs.

namespace fathom::topology {
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
