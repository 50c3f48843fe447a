#include "probes/topology/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "probes/topology/names.h"
#include "probes/two_groups.h"
#include "results/rows.h"

// What latencies tell: groups of SMs, sides of the L2, groups of lines.

namespace fathom::topology {
namespace {

TwoGroups near_and_far(const Rows& left) {
  std::vector<double> all;
  for (const auto& row : left) all.insert(all.end(), row.begin(), row.end());
  return two_groups(all);
}

/// 1 where an SM is far from a line, else 0. What is different within the near and within the far
/// ones, if only by a little, would else be groups of its own: correlation knows no scale.
Rows far_or_not(Rows left) {
  const TwoGroups groups = near_and_far(left);
  for (auto& row : left)
    for (double& value : row) value = value > (groups.low + groups.high) / 2 ? 1 : 0;
  return left;
}

/// What sides of the L2 are to each line: the mean over each side's SMs.
void measure_sides(Partitions& partitions) {
  const Rows& left = partitions.matrix.left;
  const auto sides = members(partitions.labels);
  const std::size_t lines = left.front().size();
  partitions.lines.assign(sides.size(), 0);
  for (std::size_t line = 0; line < lines; ++line) {
    std::vector<double> means(sides.size());
    for (std::size_t side = 0; side < sides.size(); ++side)
      for (const std::size_t sm : sides[side])
        means[side] += left[sm][line] / static_cast<double>(sides[side].size());
    const auto [near, far] = std::ranges::minmax_element(means);
    partitions.penalty += (*far - *near) / static_cast<double>(lines);
    ++partitions.lines[near - means.begin()];
  }
}

Partitions partitions_by(std::span<const Entry> entries, const char* instruction) {
  Partitions result{latency_groups(entries, instruction, GroupedBy::near_or_far), instruction};
  if (!result.matrix.reason.empty()) return result;
  result.separation = near_and_far(result.matrix.left).separation;
  if (result.reason.empty() && result.separation < bimodal_separation) {
    result.reason = fmt::format(
        "by {}, latencies fall into no two groups, near and far, of whose variance they would hold "
        "{:.2f}",
        instruction, result.separation);
  }
  if (result.reason.empty()) measure_sides(result);
  return result;
}

}  // namespace

Matrix matrix_of(std::span<const Entry> entries, const AxisFilter& filter) {
  Matrix matrix;
  std::map<std::int64_t, std::pair<const Entry*, std::span<const double>>> by_sm;
  double all = 0;
  for (const Entry* entry : select(entries, filter)) {
    const AxisValue* sm = find_axis(*entry, "SM");
    if (!entry->profile || !entry->metric.value || !entry->extras.contains("sms") || sm == nullptr)
      continue;
    all = entry->extras.at("sms");
    const std::span<const double> values = entry->profile->values;
    if (const auto* number = std::get_if<std::int64_t>(sm)) by_sm[*number] = {entry, values};
    if (*sm != AxisValue(all_sms)) continue;
    // All SMs, one after the other.
    const auto sms = static_cast<std::size_t>(all);
    if (sms == 0 || values.empty() || values.size() % sms != 0) {
      matrix.reason = "its profile is not of all SMs";
      return matrix;
    }
    const std::size_t columns = values.size() / sms;
    for (std::size_t i = 0; i < sms; ++i)
      by_sm[static_cast<std::int64_t>(i)] = {entry, values.subspan(i * columns, columns)};
  }
  if (by_sm.empty()) {
    matrix.reason = fathom::left_out;
    return matrix;
  }
  if (static_cast<double>(by_sm.size()) != all || by_sm.rbegin()->first + 1 != all) {
    matrix.reason = fmt::format("{} of {:.0f} SMs were measured", by_sm.size(), all);
    return matrix;
  }
  for (const auto& [number, of_sm] : by_sm) {
    const auto& [entry, values] = of_sm;
    matrix.rows.emplace_back(values.begin(), values.end());
    if (values.size() != matrix.rows.front().size() || values.empty()) {
      matrix = {};
      matrix.reason = "its entries are of different lines";
      return matrix;
    }
    if (matrix.counters.empty()) matrix.counters = entry->counters;
  }
  matrix.left = double_centred(matrix.rows);
  const Entry *first = by_sm.begin()->second.first, *last = by_sm.rbegin()->second.first;
  matrix.evidence = {first->name};
  if (last != first) matrix.evidence.push_back(last->name);
  matrix.repeats = static_cast<int>(first->samples.size());
  return matrix;
}

Matrix latency_matrix(std::span<const Entry> entries, const char* instruction, int set) {
  return matrix_of(
      entries, {{"sweep", latency_sweep}, {"instruction", instruction}, {"lines", set_names[set]}});
}

Matrix both_sets(std::span<const Entry> entries, const char* instruction) {
  Matrix both = latency_matrix(entries, instruction, 0);
  const Matrix second = latency_matrix(entries, instruction, 1);
  if (both.reason.empty()) both.reason = second.reason;
  if (both.reason.empty() && both.rows.size() != second.rows.size())
    both.reason = "its two sets of lines are of different SMs";
  if (!both.reason.empty()) {
    both.rows.clear();
    both.left.clear();
    return both;
  }
  for (std::size_t sm = 0; sm < both.rows.size(); ++sm) {
    both.rows[sm].insert(both.rows[sm].end(), second.rows[sm].begin(), second.rows[sm].end());
    both.left[sm].insert(both.left[sm].end(), second.left[sm].begin(), second.left[sm].end());
  }
  both.evidence.insert(both.evidence.end(), second.evidence.begin(), second.evidence.end());
  return both;
}

LatencyGroups latency_groups(std::span<const Entry> entries, const char* instruction,
                             GroupedBy grouped_by) {
  constexpr std::size_t least = 2;
  /// Most sides that are looked for: GPUs of today have one or two.
  constexpr std::size_t most_partitions = 4;
  LatencyGroups result;
  result.matrix = both_sets(entries, instruction);
  result.reason = result.matrix.reason;
  const std::size_t sms = result.matrix.rows.size();
  if (result.reason.empty() && sms <= least)
    result.reason = fmt::format("{} SMs are too few to be grouped", sms);
  if (!result.reason.empty()) return result;
  const bool by_latency = grouped_by == GroupedBy::latency;
  const auto grouped_rows = [&](const Matrix& matrix) {
    return by_latency ? matrix.left : far_or_not(matrix.left);
  };
  static_cast<Grouping&>(result) = parsimonious_clusters(
      grouped_rows(result.matrix), least, by_latency ? std::max(least, sms / 2) : most_partitions);
  const auto of_set = [&](int set) {
    return clusters(grouped_rows(latency_matrix(entries, instruction, set)),
                    static_cast<std::size_t>(result.groups));
  };
  result.reproducibility = adjusted_rand_index(of_set(0), of_set(1));
  if (result.reproducibility < same_groups) {
    result.reason = fmt::format(
        "by {}, {} groups from one set of lines and as many from another are not the same: their "
        "adjusted Rand index is {:.2f}",
        instruction, result.groups, result.reproducibility);
  }
  return result;
}

Partitions l2_partitions(std::span<const Entry> entries) {
  Partitions by_atomics = partitions_by(entries, atomic_instruction);
  if (by_atomics.reason.empty()) return by_atomics;
  Partitions by_loads = partitions_by(entries, load_instruction);
  if (!by_loads.reason.empty())
    by_loads.reason = fmt::format("atomics: {}; loads: {}", by_atomics.reason, by_loads.reason);
  return by_loads;
}

}  // namespace fathom::topology
