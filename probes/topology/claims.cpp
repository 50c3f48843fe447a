#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

#include "probes/topology/names.h"
#include "probes/topology/groups.h"

namespace fathom::topology {
namespace {

/// SMs of one partition beside each other, in it those of one GPC, in it those of one TPC.
std::vector<AxisValue> order_of_sms(const Topology& t) {
  const Labels sides = t.partitions.reason.empty() ? t.partitions.labels : Labels{};
  const std::size_t sms = std::max(
      {t.latency.matrix.rows.size(), t.gpcs.size(), t.tpcs.size(), t.partitions.labels.size()});
  // A run that was cut short may know groups of fewer SMs.
  const auto label = [&](const Labels& labels, std::int64_t sm) {
    return labels.size() == sms ? labels[static_cast<std::size_t>(sm)] : 0;
  };
  std::vector<std::int64_t> order(sms);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, {}, [&](std::int64_t sm) {
    return std::tuple(label(sides, sm), label(t.gpcs, sm), label(t.tpcs, sm));
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
  View loads = latencies("Latency of L2 lines from each SM",
                         "SMs from the top by partition of the L2, GPC and TPC.", load_instruction);
  View atomics = latencies("Latency of atomics on L2 lines from each SM",
                           "An atomic goes to the line's home, wherever the nearest copy is. SMs "
                           "in the same order.",
                           atomic_instruction);
  // The one in which more is to be seen.
  const bool by_home = t.partitions.reason.empty() &&
                       t.partitions.instruction == std::string_view(atomic_instruction);
  (by_home ? atomics : loads).overview = true;
  return {loads, atomics,
          table("SMs that clusters join", {{"sweep", {cluster_sweep}}},
                {"cluster size", "blocks per SM", "metric", "extra:sms_seen", "verdict"},
                "Groups that remain when SMs that blocks of one cluster ran on are one; several "
                "blocks on an SM mix them more.")};
}

std::string answer(const Topology& t) {
  std::vector<std::string> parts;
  if (!t.gpcs.empty()) {
    const auto& groups = t.known_gpcs;
    const auto [fewest, most] = std::ranges::minmax(groups, {}, &Members::size);
    std::size_t placed = 0;
    for (const Members& group : groups) placed += group.size();
    std::string text = fmt::format("{} SMs sit in {} GPCs of {} to {} SMs", placed, groups.size(),
                                   fewest.size(), most.size());
    if (t.clusters.reason.empty() && !t.clusters.outside.empty()) {
      text += fmt::format(", {} {}out of the reach of clusters larger than two",
                          t.clusters.outside.size(), t.joined.assigned ? "of them " : "more ");
    }
    parts.push_back(text);
  }
  if (!t.tpcs.empty())
    parts.push_back(fmt::format("the SMs make {} TPCs", number_of_groups(t.tpcs)));
  if (const Partitions& p = t.partitions; p.reason.empty()) {
    std::vector<std::size_t> sizes;
    for (const auto& side : members(p.labels)) sizes.push_back(side.size());
    parts.push_back(fmt::format(
        "the L2 has {} partitions with {} SMs near to each, and the far one "
        "costs {} {:.0f} cycles more",
        sizes.size(), fmt::join(sizes, " and "),
        p.instruction == std::string_view(atomic_instruction) ? "an atomic" : "a load", p.penalty));
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
