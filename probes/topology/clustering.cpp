#include "probes/topology/clustering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace fathom {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double pairs_of(double things) { return things * (things - 1) / 2; }

/// 1 - correlation of each pair of rows: from 0, which a row has to itself, to 2.
Rows correlation_distances(const Rows& rows) {
  Rows distances(rows.size(), std::vector<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = i + 1; j < rows.size(); ++j)
      distances[i][j] = distances[j][i] = 1 - correlation(rows[i], rows[j]);
  return distances;
}

/// The silhouettes of as many groups as `least`, one more, and so on up to `most`.
std::vector<double> silhouettes(const Rows& rows, std::size_t least, std::size_t most) {
  const Rows distances = correlation_distances(rows);
  const Pairs linkage = average_linkage(distances);
  std::vector<double> widths;
  for (std::size_t groups = least; groups <= most; ++groups)
    widths.push_back(silhouette(distances, cut(linkage, groups)));
  return widths;
}

/// The rows without every `step`th column from `first` on.
Rows without_columns(const Rows& rows, std::size_t first, std::size_t step) {
  Rows rest(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t c = 0; c < rows[i].size(); ++c)
      if (c % step != first) rest[i].push_back(rows[i][c]);
  return rest;
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

Pairs average_linkage(const Rows& distances) {
  Pairs merges;
  Rows between = distances;  // of groups, each in its first member's row
  std::vector<double> sizes(distances.size(), 1);
  std::vector<std::size_t> alive(distances.size());
  std::iota(alive.begin(), alive.end(), std::size_t{0});
  while (alive.size() > 1) {
    std::size_t first = alive[0], second = alive[1];
    for (std::size_t i = 0; i < alive.size(); ++i) {
      for (std::size_t j = i + 1; j < alive.size(); ++j) {
        if (between[alive[i]][alive[j]] < between[first][second]) {
          first = alive[i];
          second = alive[j];
        }
      }
    }
    merges.emplace_back(first, second);
    const double together = sizes[first] + sizes[second];
    for (const std::size_t other : alive) {
      const double distance =
          (sizes[first] * between[first][other] + sizes[second] * between[second][other]) /
          together;
      between[first][other] = between[other][first] = distance;
    }
    sizes[first] = together;
    std::erase(alive, second);
  }
  return merges;
}

Labels cut(const Pairs& linkage, std::size_t groups) {
  const std::size_t things = linkage.size() + 1;
  return connected(things, std::span(linkage).first(things - groups));
}

Labels clusters(const Rows& rows, std::size_t groups) {
  return cut(average_linkage(correlation_distances(rows)), groups);
}

double silhouette(const Rows& distances, const Labels& labels) {
  const auto groups = members(labels);
  if (groups.size() < 2) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto& own_group = groups[labels[i]];
    if (own_group.size() < 2) continue;
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

double adjusted_rand_index(const Labels& a, const Labels& b) {
  std::map<std::pair<int, int>, double> cells;
  std::map<int, double> rows, columns;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++cells[{a[i], b[i]}];
    ++rows[a[i]];
    ++columns[b[i]];
  }
  double together = 0, in_a = 0, in_b = 0;
  for (const auto& [cell, count] : cells) together += pairs_of(count);
  for (const auto& [label, count] : rows) in_a += pairs_of(count);
  for (const auto& [label, count] : columns) in_b += pairs_of(count);
  const double all = pairs_of(static_cast<double>(a.size()));
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

int number_of_groups(const Labels& labels) {
  return labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
}

std::vector<std::vector<std::size_t>> members(const Labels& labels) {
  std::vector<std::vector<std::size_t>> groups(number_of_groups(labels));
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
  // With one column there is nothing to leave out.
  if (widest > 0 && deletions > 1) {
    Rows without;  // silhouettes without each group of columns
    for (std::size_t g = 0; g < deletions; ++g)
      without.push_back(silhouettes(without_columns(rows, g, deletions), least, least + widest));
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

}  // namespace fathom
