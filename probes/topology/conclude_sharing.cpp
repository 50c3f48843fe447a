#include "probes/topology/conclude_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/topology/names.h"
#include "results/statistics.h"

// What SMs share: clusters, and ports.

namespace fathom::topology {
namespace {

/// Adds what the entry's clusters join; false if its profile is not of all SMs.
bool join(const Entry& entry, std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  const std::size_t sms = entry.profile->values.size();
  for (std::size_t sm = 0; sm < sms; ++sm) {
    const double lowest = entry.profile->values[sm];
    if (lowest < 0 || lowest >= static_cast<double>(sms)) return false;
    pairs.emplace_back(sm, static_cast<std::size_t>(lowest));
  }
  return true;
}

ClusterGroups groups_by_clusters(std::span<const Entry> entries, const AxisFilter& filter) {
  ClusterGroups result;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::size_t sms = 0;
  double seen = 0;
  for (const Entry* entry : select(entries, filter)) {
    if (!entry->profile || !entry->metric.value || !entry->extras.contains("sms_seen")) continue;
    if (sms != 0 && entry->profile->values.size() != sms) continue;
    if (!join(*entry, pairs)) continue;
    sms = entry->profile->values.size();
    seen = std::max(seen, entry->extras.at("sms_seen"));
    result.evidence.push_back(entry->name);
    result.repeats += static_cast<int>(entry->samples.size());
  }
  if (sms == 0) {
    result.reason =
        "this GPU has no clusters (none before compute capability 9.0), or their cases were left "
        "out";
  } else if (seen < static_cast<double>(sms)) {
    result.reason = fmt::format("clusters ran on {:.0f} of {} SMs only", seen, sms);
  } else {
    result.labels = connected(sms, pairs);
  }
  return result;
}

/// Share of the bandwidth alone that SMs i and j lose beside each other, mean of both.
Rows slowdowns(const Rows& bandwidth) {
  Rows loss(bandwidth.size(), std::vector<double>(bandwidth.size()));
  for (std::size_t i = 0; i < bandwidth.size(); ++i) {
    for (std::size_t j = 0; j < bandwidth.size(); ++j) {
      if (i == j) continue;
      loss[i][j] = 1 - (bandwidth[i][j] / bandwidth[i][i] + bandwidth[j][i] / bandwidth[j][j]) / 2;
    }
  }
  return loss;
}

/// The SM that slows `sm` down most, if it does so by far more than the others.
std::optional<std::size_t> partner_of(const Rows& loss, std::size_t sm) {
  // A port that two SMs share costs each a good part of what it had; all else they share, the L2
  // and what leads there, is made for far more than two SMs.
  constexpr double least_excess = 0.05, least_spreads = 6;
  std::size_t partner = sm == 0 ? 1 : 0;
  for (std::size_t j = 0; j < loss.size(); ++j) {
    if (j != sm && loss[sm][j] > loss[sm][partner]) partner = j;
  }
  std::vector<double> others;
  for (std::size_t j = 0; j < loss.size(); ++j) {
    if (j != sm && j != partner) others.push_back(loss[sm][j]);
  }
  if (others.empty()) return std::nullopt;
  const double excess = loss[sm][partner] - median(others);
  if (excess < std::max(least_excess, least_spreads * robust_spread(others))) return std::nullopt;
  return partner;
}

ContentionPairs pairs_by(std::span<const Entry> entries, const char* instruction) {
  ContentionPairs result;
  result.instruction = instruction;
  result.matrix = matrix_of(entries, {{"sweep", contention_sweep}, {"instruction", instruction}});
  result.reason = result.matrix.reason;
  const Rows& bandwidth = result.matrix.rows;
  if (!result.reason.empty() || bandwidth.size() < 3) {
    if (result.reason.empty()) result.reason = "pairs stand out among three SMs or more only";
    return result;
  }
  if (bandwidth.front().size() != bandwidth.size()) {
    result.reason = "its entries are of other SMs";
    return result;
  }
  const Rows loss = slowdowns(bandwidth);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<double> of_pairs, of_others;
  for (std::size_t i = 0; i < loss.size(); ++i) {
    const auto partner = partner_of(loss, i);
    const bool mutual = partner && partner_of(loss, *partner) == i;
    for (std::size_t j = i + 1; j < loss.size(); ++j) {
      (mutual && j == *partner ? of_pairs : of_others).push_back(loss[i][j]);
    }
    if (mutual) pairs.emplace_back(i, *partner);
  }
  result.labels = connected(loss.size(), pairs);
  result.paired = static_cast<int>(pairs.size());
  if (!of_pairs.empty()) result.slowdown = median(of_pairs);
  if (!of_others.empty()) result.other_slowdown = median(of_others);
  if (result.paired < same_groups * static_cast<double>(loss.size())) {
    result.reason =
        fmt::format("by {}, {} of {} SMs have one other SM that slows them down as no other does",
                    instruction, result.paired, loss.size());
  }
  return result;
}

}  // namespace

ClusterGroups gpcs_by_clusters(std::span<const Entry> entries) {
  return groups_by_clusters(entries, {{"sweep", cluster_sweep}});
}

ClusterGroups pairs_by_clusters(std::span<const Entry> entries) {
  ClusterGroups result = groups_by_clusters(entries, {{"sweep", cluster_sweep},
                                                      {"cluster size", std::int64_t{2}},
                                                      {"blocks per SM", std::int64_t{1}}});
  for (const auto& group : members(result.labels)) {
    if (group.size() <= 2 || !result.reason.empty()) continue;
    result.reason =
        fmt::format("clusters of two blocks, one on each SM, join {} SMs and more", group.size());
  }
  return result;
}

ContentionPairs pairs_by_contention(std::span<const Entry> entries) {
  ContentionPairs by_stores = pairs_by(entries, store_instruction);
  ContentionPairs by_loads = pairs_by(entries, load_instruction);
  if (by_stores.paired == 0 && by_loads.paired == 0 && by_stores.reason != by_loads.reason) {
    by_stores.reason = fmt::format("stores: {}; loads: {}", by_stores.reason, by_loads.reason);
  }
  return by_loads.paired > by_stores.paired ? by_loads : by_stores;
}

}  // namespace fathom::topology
