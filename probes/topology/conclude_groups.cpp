#include "probes/topology/conclude_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "probes/topology/names.h"
#include "results/statistics.h"
#include "results/two_groups.h"

namespace fathom::topology {
namespace {

constexpr const char* left_out = "its cases were left out of this run or failed";

/// Most sides that are looked for: GPUs of today have one or two.
constexpr std::size_t most_partitions = 4;

Rows left_over(const Matrix& matrix) { return double_centred(matrix.rows); }

Grouping group(const Rows& rows, std::size_t least, std::size_t most) {
  return best_grouping(correlation_distances(double_centred(rows)), least, most);
}

Rows transposed(const Rows& rows) {
  Rows columns(rows.front().size(), std::vector<double>(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c) columns[c][r] = rows[r][c];
  }
  return columns;
}

/// Share of the variance of all that is left over which near and far hold between them.
double separation_of(const Rows& left) {
  std::vector<double> all;
  for (const auto& row : left) all.insert(all.end(), row.begin(), row.end());
  return two_groups(all).separation;
}

/// Mean over each side's SMs, for each line.
Rows means_by_side(const Rows& left, const Labels& labels) {
  const auto sides = members(labels);
  Rows means(sides.size(), std::vector<double>(left.front().size()));
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (const std::size_t sm : sides[side]) {
      for (std::size_t line = 0; line < left[sm].size(); ++line) {
        means[side][line] += left[sm][line] / static_cast<double>(sides[side].size());
      }
    }
  }
  return means;
}

void measure_sides(Partitions& partitions, const Rows& left) {
  const Rows by_line = transposed(means_by_side(left, partitions.labels));
  partitions.lines.assign(number_of_groups(partitions.labels), 0);
  for (const std::vector<double>& sides : by_line) {
    const auto [near, far] = std::ranges::minmax_element(sides);
    partitions.penalty += (*far - *near) / static_cast<double>(by_line.size());
    ++partitions.lines[near - sides.begin()];
  }
}

Partitions partitions_by(std::span<const Entry> entries, const char* instruction) {
  Partitions result;
  result.instruction = instruction;
  const LatencyGroups sides = latency_groups(entries, instruction, 2, most_partitions);
  result.labels = sides.groups.labels;
  result.reproducibility = sides.reproducibility;
  result.reason = sides.reason;
  result.matrix = both_sets(entries, instruction);
  if (!result.matrix.reason.empty()) return result;
  const Rows left = left_over(result.matrix);
  result.separation = separation_of(left);
  if (result.reason.empty() && result.separation < bimodal_separation) {
    result.reason = fmt::format(
        "by {}, latencies fall into no two groups, near and far, of whose variance they would hold "
        "{:.2f}",
        instruction, result.separation);
  }
  if (result.reason.empty()) measure_sides(result, left);
  return result;
}

int launches_of(const Entry& entry) { return static_cast<int>(entry.samples.size()); }

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
    result.repeats += launches_of(*entry);
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
      loss[i][j] =
          1 - (bandwidth[i][j] / bandwidth[i][i] + bandwidth[j][i] / bandwidth[j][j]) / 2;
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
  result.matrix =
      matrix_of(entries, {{"sweep", contention_sweep}, {"instruction", instruction}});
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
    result.reason = fmt::format(
        "by {}, {} of {} SMs have one other SM that slows them down as no other does", instruction,
        result.paired, loss.size());
  }
  return result;
}

}  // namespace

Matrix matrix_of(std::span<const Entry> entries, const AxisFilter& filter) {
  Matrix matrix;
  std::map<std::int64_t, const Entry*> by_sm;
  for (const Entry* entry : select(entries, filter)) {
    const AxisValue* sm = find_axis(*entry, "SM");
    const auto* number = sm == nullptr ? nullptr : std::get_if<std::int64_t>(sm);
    if (number != nullptr && entry->profile && entry->metric.value) by_sm[*number] = entry;
  }
  if (by_sm.empty()) {
    matrix.reason = left_out;
    return matrix;
  }
  const auto sms = by_sm.begin()->second->extras.find("sms");
  const double all = sms == by_sm.begin()->second->extras.end() ? 0 : sms->second;
  if (static_cast<double>(by_sm.size()) != all || by_sm.rbegin()->first + 1 != all) {
    matrix.reason = fmt::format("{} of {:.0f} SMs were measured", by_sm.size(), all);
    return matrix;
  }
  for (const auto& [number, entry] : by_sm) {
    matrix.rows.push_back(entry->profile->values);
    if (matrix.rows.back().size() != matrix.rows.front().size() || matrix.rows.back().empty()) {
      return {.reason = "its entries are of different lines"};
    }
    if (matrix.counters.empty()) matrix.counters = entry->counters;
  }
  matrix.evidence = {by_sm.begin()->second->name};
  if (by_sm.size() > 1) matrix.evidence.push_back(by_sm.rbegin()->second->name);
  matrix.repeats = launches_of(*by_sm.begin()->second);
  return matrix;
}

Matrix latency_matrix(std::span<const Entry> entries, const char* instruction, int set) {
  return matrix_of(entries, {{"sweep", latency_sweep},
                             {"instruction", instruction},
                             {"lines", set_names[set]}});
}

Matrix both_sets(std::span<const Entry> entries, const char* instruction) {
  Matrix both = latency_matrix(entries, instruction, 0);
  const Matrix second = latency_matrix(entries, instruction, 1);
  if (both.reason.empty()) both.reason = second.reason;
  if (both.reason.empty() && both.rows.size() != second.rows.size()) {
    both.reason = "its two sets of lines are of different SMs";
  }
  if (!both.reason.empty()) return {.reason = both.reason};
  for (std::size_t sm = 0; sm < both.rows.size(); ++sm) {
    both.rows[sm].insert(both.rows[sm].end(), second.rows[sm].begin(), second.rows[sm].end());
  }
  both.evidence.insert(both.evidence.end(), second.evidence.begin(), second.evidence.end());
  return both;
}

LatencyGroups latency_groups(std::span<const Entry> entries, const char* instruction,
                             std::size_t least, std::size_t most) {
  LatencyGroups result;
  const Matrix both = both_sets(entries, instruction);
  result.reason = both.reason;
  if (result.reason.empty() && both.rows.size() <= least) {
    result.reason = fmt::format("{} SMs are too few to be grouped", both.rows.size());
  }
  if (!result.reason.empty()) return result;
  Labels of_set[2];
  for (const int set : {0, 1}) {
    const Grouping own = group(latency_matrix(entries, instruction, set).rows, least, most);
    of_set[set] = own.labels;
    result.groups_of_set[set] = own.groups;
  }
  result.groups = group(both.rows, least, most);
  result.reproducibility = adjusted_rand_index(of_set[0], of_set[1]);
  if (result.reproducibility < same_groups) {
    result.reason = fmt::format(
        "by {}, the groups from two sets of lines, {} and {} of them, are not the same: their "
        "adjusted Rand index is {:.2f}",
        instruction, result.groups_of_set[0], result.groups_of_set[1], result.reproducibility);
  }
  return result;
}

Partitions l2_partitions(std::span<const Entry> entries) {
  Partitions by_atomics = partitions_by(entries, atomic_instruction);
  if (by_atomics.reason.empty()) return by_atomics;
  Partitions by_loads = partitions_by(entries, load_instruction);
  if (!by_loads.reason.empty()) {
    by_loads.reason = fmt::format("atomics: {}; loads: {}", by_atomics.reason, by_loads.reason);
  }
  return by_loads;
}

ClusterGroups gpcs_by_clusters(std::span<const Entry> entries) {
  return groups_by_clusters(entries, {{"sweep", cluster_sweep}});
}

ClusterGroups pairs_by_clusters(std::span<const Entry> entries) {
  ClusterGroups result = groups_by_clusters(entries, {{"sweep", cluster_sweep},
                                                      {"cluster size", std::int64_t{2}},
                                                      {"blocks per SM", std::int64_t{1}}});
  for (const auto& group : members(result.labels)) {
    if (group.size() <= 2 || !result.reason.empty()) continue;
    result.reason = fmt::format("clusters of two blocks, one on each SM, join {} SMs and more",
                                group.size());
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

LineGroups line_groups(std::span<const Entry> entries) {
  LineGroups result;
  result.matrix = latency_matrix(entries, load_instruction, 0);
  result.reason = result.matrix.reason;
  if (result.reason.empty() &&
      (result.matrix.rows.size() < 4 || result.matrix.rows.front().size() < 4)) {
    result.reason = "there are too few SMs or lines to group lines by";
  }
  if (!result.reason.empty()) return result;
  const auto by = [&](std::size_t first, std::size_t step) {
    Rows some;
    for (std::size_t sm = first; sm < result.matrix.rows.size(); sm += step) {
      some.push_back(result.matrix.rows[sm]);
    }
    // Centred in both directions, so that it is the same for lines as for SMs.
    return group(transposed(some), 2, some.front().size() / 2);
  };
  result.groups = by(0, 1).groups;
  result.agreement = adjusted_rand_index(by(0, 2).labels, by(1, 2).labels);
  if (result.agreement < same_groups) {
    result.reason = fmt::format(
        "even and odd SMs do not agree on groups of lines: the adjusted Rand index is {:.2f}",
        result.agreement);
  }
  return result;
}

}  // namespace fathom::topology
