#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "probes/topology/groups.h"
#include "probes/topology/names.h"
#include "results/statistics.h"

// GPCs: what clusters join, and where SMs sit that clusters leave out.

namespace fathom::topology {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Adds what the entry's clusters join; false if its profile is not of all SMs.
bool join(const Entry& entry, Pairs& pairs) {
  const std::size_t sms = entry.profile->values.size();
  for (std::size_t sm = 0; sm < sms; ++sm) {
    const double lowest = entry.profile->values[sm];
    if (lowest < 0 || lowest >= static_cast<double>(sms)) return false;
    pairs.emplace_back(sm, static_cast<std::size_t>(lowest));
  }
  return true;
}

/// By SM: the GPC by clusters that most SMs of its group by latency are of.
std::vector<int> home_of(const ClusterGroups& clusters, const LatencyGpcs& latency,
                         const std::vector<bool>& is_outside) {
  std::map<int, std::map<int, int>> votes;
  for (std::size_t sm = 0; sm < is_outside.size(); ++sm)
    if (!is_outside[sm]) ++votes[latency.labels[sm]][clusters.labels[sm]];
  std::vector<int> home(is_outside.size(), -1);
  for (std::size_t sm = 0; sm < home.size(); ++sm) {
    const auto& of_group = votes[latency.labels[sm]];
    const auto most =
        std::ranges::max_element(of_group, {}, [](const auto& vote) { return vote.second; });
    if (most != of_group.end()) home[sm] = most->first;
  }
  return home;
}

/// How the SMs outside fit: mean correlation with the SMs of each GPC; means over those outside.
void measure_fit(Gpcs& result, const ClusterGroups& clusters, const LatencyGpcs& latency,
                 const std::vector<bool>& is_outside) {
  const auto groups = members(clusters.labels);
  std::vector<double> own, other;
  for (const std::size_t sm : clusters.outside) {
    double best_other = -1;
    for (const auto& group : groups) {
      // A group's GPC is told within its region, so only GPCs there are rivals.
      if (is_outside[group.front()] || latency.region[group.front()] != latency.region[sm])
        continue;
      double sum = 0;
      for (const std::size_t j : group) sum += correlation(latency.left[sm], latency.left[j]);
      const double mean = sum / static_cast<double>(group.size());
      if (clusters.labels[group.front()] == result.labels[sm])
        own.push_back(mean);
      else
        best_other = std::max(best_other, mean);
    }
    other.push_back(best_other);
  }
  if (own.empty()) return;
  result.own = median(own);
  result.other = median(other);
}

}  // namespace

int ClusterGroups::gpcs() const {
  int count = 0;
  for (const auto& group : members(labels))
    count += std::ranges::find(outside, group.front()) == outside.end();
  return count;
}

ClusterGroups gpcs_by_clusters(std::span<const Entry> entries) {
  ClusterGroups result;
  Pairs pairs[3];  // of each half of the launches, and of both
  std::size_t sms = 0;
  double seen = 0;
  for (const Entry* entry : select(entries, {{"sweep", cluster_sweep}})) {
    if (!entry->profile || !entry->metric.value || !entry->extras.contains("sms_seen")) continue;
    if (sms != 0 && entry->profile->values.size() != sms) continue;
    const AxisValue* half = find_axis(*entry, "launches");
    const bool second = half != nullptr && *half == AxisValue(set_names[1]);
    if (!join(*entry, pairs[2]) || !join(*entry, pairs[second ? 1 : 0])) continue;
    sms = entry->profile->values.size();
    seen = std::max(seen, entry->extras.at("sms_seen"));
    result.evidence.push_back(entry->name);
    result.repeats += static_cast<int>(entry->samples.size());
  }
  if (sms == 0) {
    result.reason =
        "this GPU has no clusters (none before compute capability 9.0), or their cases were left "
        "out";
    return result;
  }
  if (seen < static_cast<double>(sms)) {
    result.reason = fmt::format("clusters ran on {:.0f} of {} SMs only", seen, sms);
    return result;
  }
  result.labels = connected(sms, pairs[2]);
  if (!pairs[0].empty() && !pairs[1].empty()) {
    result.reproducibility =
        adjusted_rand_index(connected(sms, pairs[0]), connected(sms, pairs[1]));
  }
  constexpr std::size_t sms_of_tpc = 2;
  const auto groups = members(result.labels);
  const std::size_t largest = std::ranges::max(groups, {}, &std::vector<std::size_t>::size).size();
  for (const auto& group : groups) {
    if (largest <= sms_of_tpc || group.size() > sms_of_tpc) continue;
    result.outside.insert(result.outside.end(), group.begin(), group.end());
  }
  return result;
}

Gpcs joined_gpcs(const ClusterGroups& clusters, const LatencyGpcs& latency) {
  Gpcs result;
  result.count = clusters.gpcs();
  std::vector<bool> is_outside(clusters.labels.size());
  for (const std::size_t sm : clusters.outside) is_outside[sm] = true;
  result.reason = latency.reason;
  std::vector<int> labels = clusters.labels;
  if (result.reason.empty() && latency.labels.size() != labels.size())
    result.reason = "clusters and latencies are of different SMs";
  if (result.reason.empty()) {
    Labels by_clusters, by_latency;
    for (std::size_t sm = 0; sm < labels.size(); ++sm) {
      if (is_outside[sm]) continue;
      by_clusters.push_back(clusters.labels[sm]);
      by_latency.push_back(latency.labels[sm]);
    }
    result.agreement = adjusted_rand_index(by_clusters, by_latency);
    const std::vector<int> home = home_of(clusters, latency, is_outside);
    result.assigned =
        result.agreement >= same_groups && !clusters.outside.empty() &&
        std::ranges::all_of(clusters.outside, [&](std::size_t sm) { return home[sm] >= 0; });
    if (result.assigned)
      for (const std::size_t sm : clusters.outside) labels[sm] = home[sm];
  }
  if (!result.assigned) {
    // Beyond any label of a GPC, so that they come last.
    for (const std::size_t sm : clusters.outside) labels[sm] = static_cast<int>(labels.size());
  }
  result.labels = labels;
  if (result.assigned) measure_fit(result, clusters, latency, is_outside);
  result.labels = renumbered(result.labels);
  return result;
}

}  // namespace fathom::topology
