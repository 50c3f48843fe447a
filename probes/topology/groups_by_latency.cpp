#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "probes/topology/groups.h"
#include "probes/two_groups.h"

// What latencies tell: groups of SMs, and sides of the L2.

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

Partitions partitions_by(const Latencies& latencies) {
  Partitions result{latency_groups(latencies, GroupedBy::near_or_far), latencies.instruction};
  if (!result.matrix.reason.empty()) return result;
  const Rows& left = result.matrix.left;
  result.separation = near_and_far(left).separation;
  if (!result.reason.empty()) return result;
  if (result.separation < bimodal_separation) {
    result.reason = fmt::format(
        "by {}, latencies fall into no two groups, near and far, of whose variance they would hold "
        "{:.2f}",
        result.instruction, result.separation);
    return result;
  }
  // What the sides are to each line: the mean over each side's SMs.
  const auto sides = members(result.labels);
  const std::size_t lines = left.front().size();
  result.lines.assign(sides.size(), 0);
  for (std::size_t line = 0; line < lines; ++line) {
    std::vector<double> means(sides.size());
    for (std::size_t side = 0; side < sides.size(); ++side)
      for (const std::size_t sm : sides[side])
        means[side] += left[sm][line] / static_cast<double>(sides[side].size());
    const auto [near, far] = std::ranges::minmax_element(means);
    result.penalty += (*far - *near) / static_cast<double>(lines);
    ++result.lines[near - means.begin()];
  }
  return result;
}

}  // namespace

Matrix matrix_of(std::span<const Entry> entries, const AxisFilter& filter) {
  Matrix matrix;
  std::map<std::int64_t, std::pair<const Entry*, std::span<const double>>> by_sm;
  std::int64_t sms = 0;
  bool whole = true;
  for (const Entry* entry : select(entries, filter)) {
    const AxisValue* sm = find_axis(*entry, "SM");
    if (!entry->profile || !entry->metric.value || !entry->extras.contains("sms") || sm == nullptr)
      continue;
    sms = static_cast<std::int64_t>(entry->extras.at("sms"));
    const std::span<const double> values = entry->profile->values;
    const auto* number = std::get_if<std::int64_t>(sm);  // else all of them, one after the other
    const std::int64_t first = number ? *number : 0, rows = number ? 1 : sms;
    whole = whole && rows > 0 && !values.empty() && values.size() % rows == 0;
    for (std::int64_t i = 0; whole && i < rows; ++i)
      by_sm[first + i] = {entry, values.subspan(values.size() / rows * i, values.size() / rows)};
  }
  if (whole && by_sm.empty())
    matrix.reason = left_out;
  else if (whole && (std::ssize(by_sm) != sms || by_sm.rbegin()->first + 1 != sms))
    matrix.reason = fmt::format("{} of {} SMs were measured", by_sm.size(), sms);
  for (const auto& [number, of_sm] : by_sm)
    whole = whole && of_sm.second.size() == by_sm.begin()->second.second.size();
  if (!whole) matrix.reason = "its profiles are not of the same lines for all SMs";
  if (!matrix.reason.empty()) return matrix;
  for (const auto& [number, of_sm] : by_sm) {
    matrix.rows.emplace_back(of_sm.second.begin(), of_sm.second.end());
    if (matrix.counters.empty()) matrix.counters = of_sm.first->counters;
  }
  matrix.left = double_centred(matrix.rows);
  const Entry *first = by_sm.begin()->second.first, *last = by_sm.rbegin()->second.first;
  matrix.evidence = {first->name};
  if (last != first) matrix.evidence.push_back(last->name);
  matrix.repeats = static_cast<int>(first->samples.size());
  return matrix;
}

Latencies latencies_of(std::span<const Entry> entries, const char* instruction) {
  Latencies result{instruction};
  for (const int set : {0, 1})
    result.sets[set] = matrix_of(
        entries,
        {{"sweep", latency_sweep}, {"instruction", instruction}, {"lines", set_names[set]}});
  const auto& [first, second] = result.sets;
  Matrix& both = result.both;
  both.reason = first.reason.empty() ? second.reason : first.reason;
  if (both.reason.empty() && first.rows.size() != second.rows.size())
    both.reason = "its two sets of lines are of different SMs";
  if (!both.reason.empty()) return result;
  both = first;
  for (std::size_t sm = 0; sm < both.rows.size(); ++sm) {
    both.rows[sm].insert(both.rows[sm].end(), second.rows[sm].begin(), second.rows[sm].end());
    both.left[sm].insert(both.left[sm].end(), second.left[sm].begin(), second.left[sm].end());
  }
  both.evidence.insert(both.evidence.end(), second.evidence.begin(), second.evidence.end());
  return result;
}

LatencyGroups latency_groups(const Latencies& latencies, GroupedBy grouped_by) {
  constexpr std::size_t least = 2;
  /// Most sides that are looked for: GPUs of today have one or two.
  constexpr std::size_t most_partitions = 4;
  LatencyGroups result;
  result.matrix = latencies.both;
  result.reason = result.matrix.reason;
  const std::size_t sms = result.matrix.rows.size();
  if (result.reason.empty() && sms <= least)
    result.reason = fmt::format("{} SMs are too few to be grouped", sms);
  if (!result.reason.empty()) return result;
  const bool by_latency = grouped_by == GroupedBy::latency;
  const auto grouped_rows = [&](const Matrix& matrix) {
    return by_latency ? matrix.left : far_or_not(matrix.left);
  };
  result.fit = parsimonious_clusters(grouped_rows(result.matrix), least,
                                     by_latency ? std::max(least, sms / 2) : most_partitions);
  result.labels = result.fit.labels;
  const auto of_set = [&](int set) {
    return clusters(grouped_rows(latencies.sets[set]), static_cast<std::size_t>(result.fit.groups));
  };
  result.reproducibility = adjusted_rand_index(of_set(0), of_set(1));
  if (result.reproducibility < same_groups)
    result.reason = fmt::format(
        "by {}, {} groups from one set of lines and as many from another are not the same: their "
        "adjusted Rand index is {:.2f}",
        latencies.instruction, result.fit.groups, result.reproducibility);
  return result;
}

Partitions l2_partitions(const Latencies& loads, const Latencies& atomics) {
  const Partitions by_atomics = partitions_by(atomics);
  if (by_atomics.reason.empty()) return by_atomics;
  Partitions by_loads = partitions_by(loads);
  if (!by_loads.reason.empty())
    by_loads.reason = fmt::format("atomics: {}; loads: {}", by_atomics.reason, by_loads.reason);
  return by_loads;
}

}  // namespace fathom::topology
