#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "probes/topology/groups.h"
#include "results/statistics.h"

// GPCs: what clusters join, and where SMs sit that clusters leave out. TPCs: pairs of SMs by how
// often clusters of two join them, and how alike their latencies are.

namespace fathom::topology {
ClusterGroups gpcs_by_clusters(std::span<const Entry> entries) {
  ClusterGroups result;
  Pairs halves[2];  // of the launches
  std::size_t sms = 0;
  double seen = 0;
  for (const Entry* entry : select(entries, {{"sweep", cluster_sweep}})) {
    if (!entry->profile || !entry->metric.value) continue;
    const std::vector<double>& lowest = entry->profile->values;
    const auto is_sm = [&](double sm) { return sm >= 0 && sm < double(lowest.size()); };
    if ((sms != 0 && lowest.size() != sms) || !std::ranges::all_of(lowest, is_sm)) continue;
    sms = lowest.size();
    seen = std::fmax(seen, extra_of("sms_seen")(*entry));
    Pairs& half = halves[matches(*entry, {{"launches", set_names[1]}})];
    for (std::size_t sm = 0; sm < sms; ++sm)
      half.emplace_back(sm, static_cast<std::size_t>(lowest[sm]));
    result.matrix.evidence.push_back(entry->name);
    result.matrix.repeats += static_cast<int>(entry->samples.size());
  }
  if (sms == 0)
    result.reason =
        "this GPU has no clusters (none before compute capability 9.0), or their cases were left "
        "out";
  else if (seen < static_cast<double>(sms))
    result.reason = fmt::format("clusters ran on {:.0f} of {} SMs only", seen, sms);
  if (!result.reason.empty()) return result;
  result.has_halves = !halves[0].empty() && !halves[1].empty();
  result.reproducibility =
      adjusted_rand_index(connected(sms, halves[0]), connected(sms, halves[1]));
  append(halves[0], halves[1]);
  result.labels = connected(sms, halves[0]);
  constexpr std::size_t sms_of_tpc = 2;
  const auto groups = members(result.labels);
  const bool any_larger = std::ranges::max(groups, {}, &Members::size).size() > sms_of_tpc;
  for (const Members& group : groups)
    if (any_larger && group.size() <= sms_of_tpc)
      append(result.outside, group);
    else
      result.inside.push_back(group);
  return result;
}

namespace {

/// What additive models, one for each matrix, leave of the rows of these SMs alone.
Rows left_of(std::span<const Rows> matrices, const Members& sms) {
  Rows left(sms.size());
  for (const Rows& matrix : matrices) {
    Rows some;
    for (const std::size_t sm : sms) some.push_back(matrix[sm]);
    some = double_centred(some);
    for (std::size_t i = 0; i < sms.size(); ++i) append(left[i], some[i]);
  }
  return left;
}

struct Halves {
  Members parts[2];
  double detour = 0;  ///< between the parts' means, root mean square over lines
};

Halves halves(std::span<const Rows> matrices, const Members& sms) {
  const Rows left = left_of(matrices, sms);
  const Labels labels = clusters(left, 2);
  Halves result;
  for (std::size_t i = 0; i < sms.size(); ++i) result.parts[labels[i]].push_back(sms[i]);
  const std::size_t lines = left.front().size();
  for (std::size_t line = 0; line < lines; ++line) {
    double difference = 0;
    for (std::size_t i = 0; i < sms.size(); ++i)
      difference += (labels[i] == 0 ? 1.0 : -1.0) /
                    static_cast<double>(result.parts[labels[i]].size()) * left[i][line];
    result.detour += difference * difference;
  }
  result.detour = std::sqrt(result.detour / static_cast<double>(lines));
  return result;
}

struct ByLatency {
  Labels labels;
  std::vector<int> region;  ///< by SM
  Rows left;                ///< by SM, at its place

  /// Takes halves of halves of the SMs, as long as those are apart, for places.
  void set_left(std::span<const Rows> matrices, const Members& sms) {
    /// Cycles, root mean square over lines, by which two parts of a region are at different places.
    /// On an H200 such parts are 4.5 cycles apart and more, each of SMs of all GPCs there; two GPCs
    /// that are side by side are 1 to 2.
    constexpr double least_detour = 2.5;
    constexpr std::size_t fewest = 4;
    if (sms.size() >= fewest) {
      const Halves two = halves(matrices, sms);
      if (two.detour >= least_detour) {
        for (const Members& part : two.parts) set_left(matrices, part);
        return;
      }
    }
    const Rows own = left_of(matrices, sms);
    for (std::size_t i = 0; i < sms.size(); ++i) left[sms[i]] = own[i];
  }

  ByLatency(std::span<const Rows> matrices, std::size_t gpcs) {
    const std::size_t sms = matrices.front().size();
    labels.resize(sms);
    region.resize(sms);
    left.resize(sms);
    // Half as many regions as GPCs: the largest in two, again and again.
    std::vector<Members> regions(1, Members(sms));
    std::iota(regions.front().begin(), regions.front().end(), std::size_t{0});
    while (2 * regions.size() < gpcs) {
      const auto largest = std::ranges::max_element(regions, {}, &Members::size);
      const Halves two = halves(matrices, *largest);
      *largest = two.parts[0];
      regions.push_back(two.parts[1]);
    }
    int first_label = 0;
    for (std::size_t r = 0; r < regions.size(); ++r) {
      set_left(matrices, regions[r]);
      Rows of_region;
      for (const std::size_t sm : regions[r]) of_region.push_back(left[sm]);
      const double share = static_cast<double>(of_region.size() * gpcs) / static_cast<double>(sms);
      const auto groups = std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(share)), 1,
                                                  of_region.size());
      const Labels own = clusters(of_region, groups);
      for (std::size_t i = 0; i < own.size(); ++i) {
        region[regions[r][i]] = static_cast<int>(r);
        labels[regions[r][i]] = first_label + own[i];
      }
      first_label += static_cast<int>(groups);
    }
  }
};

/// How the SMs outside fit: mean correlation with the SMs of each GPC; medians over those outside.
void measure_fit(Gpcs& result, const ClusterGroups& clusters, const ByLatency& latency) {
  std::vector<double> own, other;
  for (const std::size_t sm : clusters.outside) {
    double best_other = -1;
    for (const Members& group : clusters.inside) {
      // A group's GPC is told within its region, so only GPCs there are rivals.
      if (latency.region[group.front()] != latency.region[sm]) continue;
      double mean = 0;
      for (const std::size_t j : group)
        mean += correlation(latency.left[sm], latency.left[j]) / static_cast<double>(group.size());
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

/// Gives those outside the GPC that most SMs of their group by latency are of.
void assign(Gpcs& result, const ClusterGroups& clusters, const ByLatency& latency) {
  Labels by_clusters, by_latency;
  std::map<int, std::map<int, int>> votes;  // group by latency, GPC by clusters
  for (const Members& group : clusters.inside) {
    for (const std::size_t sm : group) {
      by_clusters.push_back(clusters.labels[sm]);
      by_latency.push_back(latency.labels[sm]);
      ++votes[latency.labels[sm]][clusters.labels[sm]];
    }
  }
  result.agreement = adjusted_rand_index(by_clusters, by_latency);
  result.assigned = result.agreement >= same_groups && !clusters.outside.empty() &&
                    std::ranges::all_of(clusters.outside, [&](std::size_t sm) {
                      return votes.contains(latency.labels[sm]);
                    });
  if (!result.assigned) return;
  for (const std::size_t sm : clusters.outside)
    result.labels[sm] = std::ranges::max_element(votes.at(latency.labels[sm]), {},
                                                 &std::pair<const int, int>::second)
                            ->first;
  measure_fit(result, clusters, latency);
}

}  // namespace

Gpcs joined_gpcs(const ClusterGroups& clusters, const Latencies& loads, const Latencies& atomics) {
  Gpcs result;
  result.labels = clusters.labels;
  result.reason = clusters.reason;
  if (!result.reason.empty()) return result;
  const std::size_t sms = clusters.labels.size(), gpcs = clusters.inside.size();
  std::vector<Rows> all, of_set[2];
  for (const Latencies* latencies : {&loads, &atomics}) {
    if (latencies->both.rows.size() != sms) continue;
    result.matrix = latencies->both;
    result.instructions += (all.empty() ? "" : " and ") + std::string(latencies->instruction);
    for (const int set : {0, 1}) {
      of_set[set].push_back(latencies->sets[set].rows);
      all.push_back(latencies->sets[set].rows);
    }
  }
  if (all.empty())
    result.reason = atomics.both.reason.empty() ? "clusters and latencies are of different SMs"
                                                : atomics.both.reason;
  else if (gpcs < 2 || sms < 4 * gpcs)
    result.reason = fmt::format("{} SMs are too few to be {} GPCs by latency", sms, gpcs);
  if (result.reason.empty()) {
    result.reproducibility =
        adjusted_rand_index(ByLatency(of_set[0], gpcs).labels, ByLatency(of_set[1], gpcs).labels);
    assign(result, clusters, ByLatency(all, gpcs));
  }
  // Those that are not assigned are beyond any label of a GPC, so that they come last.
  for (const std::size_t sm : clusters.outside)
    if (!result.assigned) result.labels[sm] = static_cast<int>(sms);
  result.labels = renumbered(result.labels);
  return result;
}

namespace {

struct Partner {
  std::size_t sm = 0;
  double best = -INFINITY, next = -INFINITY;  ///< the row's two largest figures with others
};

Partner largest_of(const std::vector<double>& row, std::size_t own) {
  Partner partner{own};
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (j == own) continue;
    if (row[j] > partner.best)
      partner = {j, row[j], partner.best};
    else
      partner.next = std::max(partner.next, row[j]);
  }
  return partner;
}

/// How many times as often as with any other an SM must share a cluster with its partner.
constexpr double least_margin = 2;

/// Each SM with the one of its largest figure, if that is so both ways, and counts are large
/// enough.
void pair_up(SmPairs& result, const Rows& figures, bool counts) {
  const auto partner_of = [&](std::size_t sm) {
    const Partner partner = largest_of(figures[sm], sm);
    const bool enough = partner.best > 0 && partner.best >= least_margin * partner.next;
    return counts && !enough ? sm : partner.sm;
  };
  Pairs pairs;
  for (std::size_t i = 0; i < figures.size(); ++i)
    if (const std::size_t other = partner_of(i); other != i && partner_of(other) == i)
      pairs.emplace_back(i, other);
  result.labels = connected(figures.size(), pairs);
  result.paired = static_cast<int>(pairs.size());
}

}  // namespace

SmPairs pairs_by_clusters(std::span<const Entry> entries) {
  SmPairs result, halves[2];
  for (const int half : {0, 1}) {
    Matrix& matrix = halves[half].matrix =
        matrix_of(entries, {{"sweep", pair_sweep},
                            {"blocks per SM", pair_blocks_per_sm},
                            {"launches", set_names[half]}});
    const std::size_t sms = halves[0].matrix.rows.size();
    if (matrix.reason.empty() && (matrix.rows.size() != sms || matrix.rows.front().size() != sms))
      matrix.reason = "the counts are not of each two SMs";
    if (!matrix.reason.empty()) {
      result.reason = fmt::format("clusters of two: {}", matrix.reason);
      return result;
    }
    pair_up(halves[half], matrix.rows, true);
  }
  const Matrix& second = halves[1].matrix;
  result.matrix = halves[0].matrix;
  Rows& counts = result.matrix.rows;
  const std::size_t sms = counts.size();
  for (std::size_t i = 0; i < sms; ++i)
    for (std::size_t j = 0; j < sms; ++j) counts[i][j] += second.rows[i][j];
  result.matrix.repeats += second.repeats;
  append(result.matrix.evidence, second.evidence);
  pair_up(result, counts, true);
  result.share = INFINITY;
  for (std::size_t sm = 0; sm < sms; ++sm) {
    const double all = std::accumulate(counts[sm].begin(), counts[sm].end(), 0.0);
    if (all <= 0) continue;
    const Partner partner = largest_of(counts[sm], sm);
    result.share = std::min(result.share, partner.best / all);
    result.next_share = std::max(result.next_share, partner.next / all);
  }
  result.reproducibility = adjusted_rand_index(halves[0].labels, halves[1].labels);
  if (result.paired < same_groups * static_cast<double>(sms))
    result.reason = fmt::format(
        "with room for {} blocks on an SM, clusters of two join {} of {} SMs with one other at "
        "least {:.0f} times as often as with any third",
        pair_blocks_per_sm, result.paired, sms, least_margin);
  return result;
}

SmPairs pairs_by_latency(const Latencies& loads, const Latencies& atomics) {
  SmPairs result;
  result.matrix = loads.both;
  result.reason = result.matrix.reason;
  Rows rows = result.matrix.rows;
  if (atomics.both.rows.size() == rows.size())
    for (std::size_t sm = 0; sm < rows.size(); ++sm) append(rows[sm], atomics.both.rows[sm]);
  // Square difference of each two rows, negative: the nearest is the largest.
  Rows nearness(rows.size(), std::vector<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows.size(); ++j)
      nearness[i][j] =
          -std::transform_reduce(rows[i].begin(), rows[i].end(), rows[j].begin(), 0.0, std::plus(),
                                 [](double a, double b) { return (a - b) * (a - b); });
  pair_up(result, nearness, false);
  return result;
}

}  // namespace fathom::topology
