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

/// Most sides that are looked for: GPUs of today have one or two.
constexpr std::size_t most_partitions = 4;

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

Labels cut_by_correlation(const Rows& rows, int groups) {
  return Dendrogram(correlation_distances(rows)).cut(static_cast<std::size_t>(groups));
}

Rows transposed(const Rows& rows) {
  Rows columns(rows.front().size(), std::vector<double>(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < rows[r].size(); ++c) columns[c][r] = rows[r][c];
  return columns;
}

/// Mean over each side's SMs, for each line.
Rows means_by_side(const Rows& left, const Labels& labels) {
  const auto sides = members(labels);
  Rows means(sides.size(), std::vector<double>(left.front().size()));
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (const std::size_t sm : sides[side])
      for (std::size_t line = 0; line < left[sm].size(); ++line)
        means[side][line] += left[sm][line] / static_cast<double>(sides[side].size());
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
  const LatencyGroups sides =
      latency_groups(entries, instruction, GroupedBy::near_or_far, 2, most_partitions);
  result.labels = sides.groups.labels;
  result.reproducibility = sides.reproducibility;
  result.reason = sides.reason;
  result.matrix = both_sets(entries, instruction);
  if (!result.matrix.reason.empty()) return result;
  const Rows& left = result.matrix.left;
  result.separation = near_and_far(left).separation;
  if (result.reason.empty() && result.separation < bimodal_separation) {
    result.reason = fmt::format(
        "by {}, latencies fall into no two groups, near and far, of whose variance they would hold "
        "{:.2f}",
        instruction, result.separation);
  }
  if (result.reason.empty()) measure_sides(result, left);
  return result;
}

/// What does not depend on how the rows came in; `entry` is one of theirs.
void complete(Matrix& matrix, const Entry& entry) {
  matrix.left = double_centred(matrix.rows);
  matrix.evidence = {entry.name};
  matrix.repeats = static_cast<int>(entry.samples.size());
}

/// From an entry whose profile has all SMs, one after the other.
Matrix matrix_in_one(const Entry& entry) {
  Matrix matrix;
  const std::vector<double>& values = entry.profile->values;
  const auto sms = static_cast<std::size_t>(entry.extras.at("sms"));
  if (sms == 0 || values.empty() || values.size() % sms != 0) {
    matrix.reason = "its profile is not of all SMs";
    return matrix;
  }
  const auto columns = static_cast<std::ptrdiff_t>(values.size() / sms);
  for (auto row = values.begin(); row != values.end(); row += columns)
    matrix.rows.emplace_back(row, row + columns);
  complete(matrix, entry);
  return matrix;
}

}  // namespace

Matrix matrix_of(std::span<const Entry> entries, const AxisFilter& filter) {
  Matrix matrix;
  std::map<std::int64_t, const Entry*> by_sm;
  for (const Entry* entry : select(entries, filter)) {
    if (!entry->profile || !entry->metric.value || !entry->extras.contains("sms")) continue;
    const AxisValue* sm = find_axis(*entry, "SM");
    if (sm == nullptr) continue;
    if (const auto* number = std::get_if<std::int64_t>(sm)) by_sm[*number] = entry;
    if (*sm == AxisValue(all_sms)) return matrix_in_one(*entry);
  }
  if (by_sm.empty()) {
    matrix.reason = fathom::left_out;
    return matrix;
  }
  const double all = by_sm.begin()->second->extras.at("sms");
  if (static_cast<double>(by_sm.size()) != all || by_sm.rbegin()->first + 1 != all) {
    matrix.reason = fmt::format("{} of {:.0f} SMs were measured", by_sm.size(), all);
    return matrix;
  }
  for (const auto& [number, entry] : by_sm) {
    matrix.rows.push_back(entry->profile->values);
    if (matrix.rows.back().size() != matrix.rows.front().size() || matrix.rows.back().empty()) {
      matrix = {};
      matrix.reason = "its entries are of different lines";
      return matrix;
    }
    if (matrix.counters.empty()) matrix.counters = entry->counters;
  }
  complete(matrix, *by_sm.begin()->second);
  if (by_sm.size() > 1) matrix.evidence.push_back(by_sm.rbegin()->second->name);
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
                             GroupedBy grouped_by, std::size_t least, std::size_t most) {
  LatencyGroups result;
  const Matrix both = both_sets(entries, instruction);
  result.reason = both.reason;
  if (result.reason.empty() && both.rows.size() <= least)
    result.reason = fmt::format("{} SMs are too few to be grouped", both.rows.size());
  if (!result.reason.empty()) return result;
  const auto grouped_rows = [&](const Rows& left) {
    return grouped_by == GroupedBy::latency ? left : far_or_not(left);
  };
  const ChosenGrouping chosen = parsimonious_clusters(grouped_rows(both.left), least, most);
  result.groups = chosen.grouping;
  result.widest = chosen.widest;
  result.widest_silhouette = chosen.widest_silhouette;
  Labels of_set[2];
  for (const int set : {0, 1}) {
    const Rows rows = grouped_rows(latency_matrix(entries, instruction, set).left);
    of_set[set] = cut_by_correlation(rows, result.groups.groups);
  }
  result.reproducibility = adjusted_rand_index(of_set[0], of_set[1]);
  if (result.reproducibility < same_groups) {
    result.reason = fmt::format(
        "by {}, {} groups from one set of lines and as many from another are not the same: their "
        "adjusted Rand index is {:.2f}",
        instruction, result.groups.groups, result.reproducibility);
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

LineGroups line_groups(std::span<const Entry> entries) {
  LineGroups result;
  result.matrix = latency_matrix(entries, load_instruction, 0);
  result.reason = result.matrix.reason;
  if (result.reason.empty() &&
      (result.matrix.rows.size() < 4 || result.matrix.rows.front().size() < 4))
    result.reason = "there are too few SMs or lines to group lines by";
  if (!result.reason.empty()) return result;
  const auto by = [&](std::size_t first, std::size_t step) {
    Rows some;
    for (std::size_t sm = first; sm < result.matrix.rows.size(); sm += step)
      some.push_back(result.matrix.rows[sm]);
    return double_centred(transposed(some));
  };
  result.groups =
      parsimonious_clusters(by(0, 1), 2, result.matrix.rows.front().size() / 2).grouping.groups;
  result.agreement = adjusted_rand_index(cut_by_correlation(by(0, 2), result.groups),
                                         cut_by_correlation(by(1, 2), result.groups));
  if (result.agreement < same_groups) {
    result.reason = fmt::format(
        "even and odd SMs do not agree on groups of lines: the adjusted Rand index is {:.2f}",
        result.agreement);
  }
  return result;
}

}  // namespace fathom::topology
