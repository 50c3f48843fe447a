#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "probes/topology/groups.h"

namespace fathom::topology {
namespace {

/// SMs of one partition beside each other, in it those of one GPC, in it those of one TPC.
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
    const auto [fewest, most] = std::ranges::minmax(t.known_gpcs, {}, &Members::size);
    std::size_t placed = 0;
    for (const Members& group : t.known_gpcs) placed += group.size();
    std::string& text =
        parts.emplace_back(fmt::format("{} SMs sit in {} GPCs of {} to {} SMs", placed,
                                       t.known_gpcs.size(), fewest.size(), most.size()));
    if (!t.clusters.outside.empty())
      text += fmt::format(", {} {}out of the reach of clusters larger than two",
                          t.clusters.outside.size(), t.joined.assigned ? "of them " : "more ");
  }
  if (!t.tpcs.empty())
    parts.push_back(fmt::format("the SMs make {} TPCs", number_of_groups(t.tpcs)));
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
  Findings findings;
  findings.facts = facts_of(topology);
  findings.views = views(topology);
  findings.answer = answer(topology);
  return findings;
}

}  // namespace fathom::topology
