#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "probes/claims.h"
#include "probes/topology/groups.h"

namespace fathom::topology {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Rows by how far they are from each other, and how their groups join.
struct Linkage {
  Rows distances;
  Pairs merges;  ///< from the nearest two things on, each group by its first member

  explicit Linkage(const Rows& rows) : distances(rows.size(), std::vector<double>(rows.size())) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        distances[i][j] = distances[j][i] = 1 - correlation(rows[i], rows[j]);
    Rows between = distances;  // of groups, each in its first member's row
    std::vector<double> sizes(rows.size(), 1);
    std::vector<std::size_t> alive(rows.size());
    std::iota(alive.begin(), alive.end(), std::size_t{0});
    while (alive.size() > 1) {
      std::pair nearest{alive[0], alive[1]};
      for (std::size_t i = 0; i < alive.size(); ++i)
        for (std::size_t j = i + 1; j < alive.size(); ++j)
          if (between[alive[i]][alive[j]] < between[nearest.first][nearest.second])
            nearest = {alive[i], alive[j]};
      const auto [first, second] = merges.emplace_back(nearest);
      const double together = sizes[first] + sizes[second];
      for (const std::size_t other : alive)
        between[first][other] = between[other][first] =
            (sizes[first] * between[first][other] + sizes[second] * between[second][other]) /
            together;
      sizes[first] = together;
      std::erase(alive, second);
    }
  }

  Labels cut(std::size_t groups) const {
    return connected(distances.size(), std::span(merges).first(distances.size() - groups));
  }

  double silhouette(std::size_t number) const {
    const Labels labels = cut(number);
    const auto groups = members(labels);
    double sum = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto& own_group = groups[labels[i]];
      if (groups.size() < 2 || own_group.size() < 2) continue;
      double own = 0, next = std::numeric_limits<double>::infinity();  // mean distances
      for (const auto& group : groups) {
        double all = 0;
        for (const std::size_t j : group) all += distances[i][j];
        if (&group == &own_group)
          own = all / static_cast<double>(group.size() - 1);
        else
          next = std::min(next, all / static_cast<double>(group.size()));
      }
      if (const double larger = std::max(own, next); larger > 0) sum += (next - own) / larger;
    }
    return sum / static_cast<double>(labels.size());
  }
};

/// The silhouettes of as many groups as `least`, one more, and so on up to `most`; without every
/// `step`th column from `first` on, or with all of them.
std::vector<double> silhouettes(const Rows& rows, std::size_t least, std::size_t most,
                                std::size_t first = 1, std::size_t step = 1) {
  Rows kept(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t c = 0; c < rows[i].size(); ++c)
      if (c % step != first) kept[i].push_back(rows[i][c]);
  const Linkage linkage(kept);
  std::vector<double> widths;
  for (std::size_t groups = least; groups <= most; ++groups)
    widths.push_back(linkage.silhouette(groups));
  return widths;
}

}  // namespace

Rows double_centred(const Rows& rows) {
  if (rows.empty()) return rows;
  const std::size_t columns = rows.front().size();
  std::vector<double> column_means(columns);
  for (const std::vector<double>& row : rows)
    for (std::size_t c = 0; c < columns; ++c)
      column_means[c] += row[c] / static_cast<double>(rows.size());
  const double all = mean(column_means);
  Rows centred = rows;
  for (std::vector<double>& row : centred) {
    const double row_mean = mean(row);
    for (std::size_t c = 0; c < columns; ++c) row[c] += all - row_mean - column_means[c];
  }
  return centred;
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean(a), mean_b = mean(b);
  double products = 0, squares_a = 0, squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    products += (a[i] - mean_a) * (b[i] - mean_b);
    squares_a += (a[i] - mean_a) * (a[i] - mean_a);
    squares_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (squares_a <= 0 || squares_b <= 0) return 0;
  return std::clamp(products / std::sqrt(squares_a * squares_b), -1.0, 1.0);
}

Labels clusters(const Rows& rows, std::size_t groups) { return Linkage(rows).cut(groups); }

double adjusted_rand_index(const Labels& a, const Labels& b) {
  double all = 0, in_a = 0, in_b = 0, together = 0;  // pairs: all, and those in one group
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      ++all;
      in_a += a[i] == a[j];
      in_b += b[i] == b[j];
      together += a[i] == a[j] && b[i] == b[j];
    }
  }
  const double by_chance = all > 0 ? in_a * in_b / all : 0;
  const double most = (in_a + in_b) / 2;
  if (most == by_chance) return 1;  // both all in one group, or both all alone
  return (together - by_chance) / (most - by_chance);
}

Labels connected(std::size_t size, std::span<const Pairs::value_type> pairs) {
  std::vector<int> labels(size);
  std::iota(labels.begin(), labels.end(), 0);
  for (const auto& [a, b] : pairs)
    if (const int own = labels[a], other = labels[b]; own != other)
      std::ranges::replace(labels, other, own);
  return renumbered(labels);
}

Labels renumbered(std::span<const int> labels) {
  std::map<int, int> numbers;
  Labels result;
  for (const int label : labels)
    result.push_back(numbers.try_emplace(label, static_cast<int>(numbers.size())).first->second);
  return result;
}

std::vector<std::vector<std::size_t>> members(const Labels& labels) {
  std::vector<std::vector<std::size_t>> groups(labels.empty() ? 0 : std::ranges::max(labels) + 1);
  for (std::size_t i = 0; i < labels.size(); ++i) groups[labels[i]].push_back(i);
  return groups;
}

Grouping parsimonious_clusters(const Rows& rows, std::size_t least, std::size_t most) {
  constexpr std::size_t most_deletions = 12;
  constexpr double standard_errors = 2;
  const std::vector<double> widths = silhouettes(rows, least, std::min(most, rows.size()));
  const auto widest = static_cast<std::size_t>(std::ranges::max_element(widths) - widths.begin());
  std::size_t chosen = widest;
  const std::size_t deletions = std::min(most_deletions, rows.front().size());
  if (widest > 0 && deletions > 1) {
    Rows without;  // silhouettes without each group of columns
    for (std::size_t g = 0; g < deletions; ++g)
      without.push_back(silhouettes(rows, least, least + widest, g, deletions));
    // Whether the silhouette falls short of the widest by no more than the error of that.
    const auto as_good = [&](std::size_t k) {
      const double n = static_cast<double>(deletions);
      double mean = 0, squares = 0;
      for (const auto& w : without) mean += (w[widest] - w[k]) / n;
      for (const auto& w : without) squares += std::pow(w[widest] - w[k] - mean, 2);
      return widths[widest] - widths[k] <= standard_errors * std::sqrt((n - 1) / n * squares);
    };
    // Whether so many groups fit better than one fewer and one more.
    const auto peaks = [&](std::size_t k) {
      return (k == 0 || widths[k] > widths[k - 1]) && widths[k] > widths[k + 1];
    };
    chosen = 0;
    while (chosen < widest && !(peaks(chosen) && as_good(chosen))) ++chosen;
  }
  const std::size_t groups = least + chosen;
  return {clusters(rows, groups), static_cast<int>(groups), widths[chosen],
          static_cast<int>(least + widest), widths[widest]};
}

namespace {

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
    append(both.rows[sm], second.rows[sm]);
    append(both.left[sm], second.left[sm]);
  }
  append(both.evidence, second.evidence);
  return result;
}

TwoGroups near_and_far(const Rows& left) {
  std::vector<double> all;
  for (const auto& row : left) append(all, row);
  return two_groups(all);
}

/// 1 where an SM is far from a line, else 0: correlation knows no scale, so that small differences
/// within the near ones would else be groups of their own.
Rows far_or_not(Rows left) {
  const TwoGroups groups = near_and_far(left);
  for (auto& row : left)
    for (double& value : row) value = value > (groups.low + groups.high) / 2 ? 1 : 0;
  return left;
}

/// Two groups or more, by the correlation of what an additive model of SMs and lines leaves of the
/// latencies, or, for sides of the L2, of whether that is short or long. The model holds most of
/// the variance (0.87 on an L40: Alpay and Basaran, "Non-Uniform L2 Cache Latency Across the
/// Streaming Multiprocessors of an NVIDIA L40", 2026), but not who is near to what.
LatencyGroups latency_groups(const Latencies& latencies, bool sides) {
  constexpr std::size_t least = 2, most_sides = 4;  // GPUs of today have one or two
  LatencyGroups result;
  result.matrix = latencies.both;
  result.reason = result.matrix.reason;
  const std::size_t sms = result.matrix.rows.size();
  if (result.reason.empty() && sms <= least)
    result.reason = fmt::format("{} SMs are too few to be grouped", sms);
  if (!result.reason.empty()) return result;
  const auto grouped_rows = [&](const Matrix& matrix) {
    return sides ? far_or_not(matrix.left) : matrix.left;
  };
  result.fit = parsimonious_clusters(grouped_rows(result.matrix), least,
                                     sides ? most_sides : std::max(least, sms / 2));
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

Partitions partitions_by(const Latencies& latencies) {
  Partitions result{latency_groups(latencies, true), latencies.instruction};
  if (!result.matrix.reason.empty()) return result;
  const Rows& left = result.matrix.left;
  result.separation = near_and_far(left).separation;
  if (result.reason.empty() && result.separation < bimodal_separation)
    result.reason = fmt::format(
        "by {}, latencies fall into no two groups, near and far, of whose variance they would hold "
        "{:.2f}",
        result.instruction, result.separation);
  if (!result.reason.empty()) return result;
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

/// By atomics, which go to a line's home, else by loads.
Partitions l2_partitions(const Latencies& loads, const Latencies& atomics) {
  const Partitions by_atomics = partitions_by(atomics);
  if (by_atomics.reason.empty()) return by_atomics;
  Partitions by_loads = partitions_by(loads);
  if (!by_loads.reason.empty())
    by_loads.reason = fmt::format("atomics: {}; loads: {}", by_atomics.reason, by_loads.reason);
  return by_loads;
}

}  // namespace

Matrix matrix_of(std::span<const Entry> entries, const AxisFilter& filter) {
  Matrix matrix;
  std::map<std::size_t, std::pair<const Entry*, std::span<const double>>> by_sm;
  std::size_t sms = 0;
  for (const Entry* entry : select(entries, filter)) {
    const AxisValue* sm = find_axis(*entry, "SM");
    if (!entry->profile || !entry->metric.value || !entry->extras.contains("sms") || sm == nullptr)
      continue;
    sms = static_cast<std::size_t>(entry->extras.at("sms"));
    const std::span<const double> values = entry->profile->values;
    const auto* number = std::get_if<std::int64_t>(sm);  // else all of them, one after the other
    const std::size_t first = number ? static_cast<std::size_t>(*number) : 0,
                      rows = number ? 1 : sms, places = rows == 0 ? 0 : values.size() / rows;
    if (places == 0 || places * rows != values.size() ||
        (!by_sm.empty() && places != by_sm.begin()->second.second.size())) {
      matrix.reason = "its profiles are not of the same lines for all SMs";
      return matrix;
    }
    for (std::size_t i = 0; i < rows; ++i)
      by_sm[first + i] = {entry, values.subspan(places * i, places)};
  }
  if (by_sm.empty())
    matrix.reason = left_out;
  else if (by_sm.size() != sms || by_sm.rbegin()->first + 1 != sms)
    matrix.reason = fmt::format("{} of {} SMs were measured", by_sm.size(), sms);
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

Topology topology_of(std::span<const Entry> entries) {
  Topology t;
  const Latencies loads = latencies_of(entries, load_instruction);
  const Latencies atomics = latencies_of(entries, atomic_instruction);
  t.clusters = gpcs_by_clusters(entries);
  t.latency = latency_groups(loads, false);
  t.partitions = l2_partitions(loads, atomics);
  t.cluster_pairs = pairs_by_clusters(entries);
  t.latency_pairs = pairs_by_latency(loads, atomics);
  t.joined = joined_gpcs(t.clusters, loads, atomics);
  const bool by_clusters = t.clusters.reason.empty();
  const bool sides_only = t.partitions.reason.empty() &&
                          t.latency.labels.size() == t.partitions.labels.size() &&
                          adjusted_rand_index(t.latency.labels, t.partitions.labels) >= same_groups;
  if (by_clusters)
    t.gpcs = t.joined.labels;
  else if (t.latency.reason.empty() && !sides_only)
    t.gpcs = t.latency.labels;
  t.known_gpcs = by_clusters && !t.joined.assigned ? t.clusters.inside : members(t.gpcs);
  if (t.cluster_pairs.reason.empty()) t.tpcs = t.cluster_pairs.labels;
  return t;
}

}  // namespace fathom::topology
