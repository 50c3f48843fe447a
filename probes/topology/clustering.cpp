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

int number_of_groups(const Labels& labels) {
  return labels.empty() ? 0 : std::ranges::max(labels) + 1;
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

}  // namespace fathom
