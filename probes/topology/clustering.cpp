#include "probes/topology/clustering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

namespace fathom {
namespace {

void check(const Rows& rows) {
  for (const std::vector<double>& row : rows) {
    if (row.size() != rows.front().size()) throw std::invalid_argument("rows of different length");
    for (const double value : row)
      if (!std::isfinite(value)) throw std::invalid_argument("a value that is not finite");
  }
}

void check_square(const Rows& distances) {
  check(distances);
  if (!distances.empty() && distances.front().size() != distances.size())
    throw std::invalid_argument("distances that are not square");
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double pairs_of(double things) { return things * (things - 1) / 2; }

/// The representative of a thing's group, with the path to it shortened.
std::size_t root_of(std::vector<std::size_t>& parent, std::size_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/// `things` are of the group `own`: the distance to the nearest other group's members.
struct MeanDistances {
  double own = 0;
  double next = std::numeric_limits<double>::infinity();
};

MeanDistances mean_distances(const std::vector<double>& row, std::size_t thing,
                             const Labels& labels, const std::vector<double>& sizes) {
  std::vector<double> sums(sizes.size());
  for (std::size_t i = 0; i < row.size(); ++i)
    if (i != thing) sums[labels[i]] += row[i];
  MeanDistances result;
  for (std::size_t group = 0; group < sizes.size(); ++group)
    if (static_cast<int>(group) == labels[thing])
      result.own = sums[group] / std::max(1.0, sizes[group] - 1);
    else
      result.next = std::min(result.next, sums[group] / sizes[group]);
  return result;
}

std::vector<double> group_sizes(const Labels& labels) {
  std::vector<double> sizes(number_of_groups(labels));
  for (const int label : labels) ++sizes[label];
  return sizes;
}

}  // namespace

Rows double_centred(const Rows& rows) {
  check(rows);
  if (rows.empty() || rows.front().empty()) return rows;
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
  if (a.size() != b.size()) throw std::invalid_argument("correlation of different lengths");
  if (a.empty()) return 0;
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

Rows correlation_distances(const Rows& rows) {
  check(rows);
  Rows distances(rows.size(), std::vector<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = i + 1; j < rows.size(); ++j)
      distances[i][j] = distances[j][i] = 1 - correlation(rows[i], rows[j]);
  return distances;
}

Dendrogram::Dendrogram(const Rows& distances) : size_(distances.size()) {
  check_square(distances);
  Rows between = distances;  // of groups, each in its first member's row
  std::vector<double> sizes(size_, 1);
  std::vector<std::size_t> alive(size_);
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
    merges_.emplace_back(first, second);
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
}

Labels Dendrogram::cut(std::size_t groups) const {
  if (groups > size_ || (groups == 0 && size_ > 0))
    throw std::invalid_argument("a cut into as many groups as there cannot be");
  return connected(size_, std::span(merges_).first(size_ - groups));
}

double silhouette(const Rows& distances, const Labels& labels) {
  check_square(distances);
  if (labels.size() != distances.size()) throw std::invalid_argument("labels of other things");
  const std::vector<double> sizes = group_sizes(labels);
  if (sizes.size() < 2) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (sizes[labels[i]] < 2) continue;
    const auto [own, next] = mean_distances(distances[i], i, labels, sizes);
    const double larger = std::max(own, next);
    if (larger > 0) sum += (next - own) / larger;
  }
  return sum / static_cast<double>(labels.size());
}

std::vector<double> silhouettes(const Rows& distances, const Dendrogram& tree, std::size_t least,
                                std::size_t most) {
  most = std::min(most, tree.size());
  if (least < 1 || least > most)
    throw std::invalid_argument("a range of numbers of groups that is empty");
  std::vector<double> widths;
  for (std::size_t groups = least; groups <= most; ++groups)
    widths.push_back(silhouette(distances, tree.cut(groups)));
  return widths;
}

double adjusted_rand_index(const Labels& a, const Labels& b) {
  if (a.size() != b.size()) throw std::invalid_argument("groupings of different things");
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

Labels connected(std::size_t size, std::span<const std::pair<std::size_t, std::size_t>> pairs) {
  std::vector<std::size_t> parent(size);
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  for (const auto& [a, b] : pairs) {
    if (a >= size || b >= size) throw std::invalid_argument("a pair of things that are not there");
    parent[root_of(parent, a)] = root_of(parent, b);
  }
  std::vector<int> roots(size);
  for (std::size_t i = 0; i < size; ++i) roots[i] = static_cast<int>(root_of(parent, i));
  return renumbered(roots);
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

namespace {

constexpr std::size_t most_deletions = 12;
constexpr double standard_errors = 2;

/// What correlations are made of, over some of the columns.
struct Sums {
  std::size_t columns = 0;
  std::vector<double> values;  ///< by row
  Rows products;               ///< of rows i and j <= i
};

/// Over every `step`th column from `first` on.
Sums sums_of(const Rows& rows, std::size_t first, std::size_t step) {
  Sums sums;
  const std::size_t all = rows.front().size();
  Rows some(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t c = first; c < all; c += step) some[i].push_back(rows[i][c]);
  sums.columns = some.front().size();
  for (std::size_t i = 0; i < some.size(); ++i) {
    double sum = 0;
    for (const double value : some[i]) sum += value;
    sums.values.push_back(sum);
    std::vector<double>& products = sums.products.emplace_back(i + 1);
    for (std::size_t j = 0; j <= i; ++j)
      for (std::size_t c = 0; c < sums.columns; ++c) products[j] += some[i][c] * some[j][c];
  }
  return sums;
}

void add(Sums& to, const Sums& from, double sign) {
  to.columns += sign > 0 ? from.columns : -from.columns;
  for (std::size_t i = 0; i < to.values.size(); ++i) {
    to.values[i] += sign * from.values[i];
    for (std::size_t j = 0; j <= i; ++j) to.products[i][j] += sign * from.products[i][j];
  }
}

/// As correlation_distances gives them. A row that is constant but for rounding is constant.
Rows distances_of(const Sums& sums) {
  constexpr double rounding = 1e-12;
  const std::size_t things = sums.values.size();
  const double columns = static_cast<double>(sums.columns);
  const auto covariance = [&](std::size_t i, std::size_t j) {
    return sums.products[i][j] - sums.values[i] * sums.values[j] / columns;
  };
  std::vector<double> deviations(things);
  for (std::size_t i = 0; i < things; ++i) {
    const double variance = covariance(i, i);
    deviations[i] = variance > rounding * sums.products[i][i] ? std::sqrt(variance) : 0;
  }
  Rows distances(things, std::vector<double>(things));
  for (std::size_t i = 0; i < things; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double both = deviations[i] * deviations[j];
      const double r = both > 0 ? std::clamp(covariance(i, j) / both, -1.0, 1.0) : 0;
      distances[i][j] = distances[j][i] = 1 - r;
    }
  }
  return distances;
}

/// Standard error of how far each number's silhouette falls short of that of number `widest`, from
/// the silhouettes without each group of columns.
std::vector<double> errors_of_shortfall(const Rows& without, std::size_t widest) {
  const double deletions = static_cast<double>(without.size());
  std::vector<double> errors(without.front().size());
  for (std::size_t k = 0; k < errors.size(); ++k) {
    double mean = 0, squares = 0;
    for (const auto& widths : without) mean += (widths[widest] - widths[k]) / deletions;
    for (const auto& widths : without) squares += std::pow(widths[widest] - widths[k] - mean, 2);
    errors[k] = std::sqrt((deletions - 1) / deletions * squares);
  }
  return errors;
}

/// Whether number `k` fits better than one group fewer and one more.
bool peaks(const std::vector<double>& widths, std::size_t k) {
  return (k == 0 || widths[k] > widths[k - 1]) &&
         (k + 1 == widths.size() || widths[k] > widths[k + 1]);
}

}  // namespace

ChosenGrouping parsimonious_clusters(const Rows& rows, std::size_t least, std::size_t most) {
  const Rows distances = correlation_distances(rows);
  const Dendrogram tree(distances);
  const std::vector<double> widths = silhouettes(distances, tree, least, most);
  const auto widest = static_cast<std::size_t>(std::ranges::max_element(widths) - widths.begin());
  std::size_t chosen = widest;
  const std::size_t deletions = std::min(most_deletions, rows.front().size());
  // With one column there is nothing to leave out.
  if (widest > 0 && deletions > 1) {
    std::vector<Sums> parts;
    for (std::size_t g = 0; g < deletions; ++g) parts.push_back(sums_of(rows, g, deletions));
    Sums sums = parts.front();
    for (std::size_t g = 1; g < deletions; ++g) add(sums, parts[g], 1);
    Rows without;
    for (const Sums& part : parts) {
      add(sums, part, -1);
      const Rows rest = distances_of(sums);
      without.push_back(silhouettes(rest, Dendrogram(rest), least, least + widest));
      add(sums, part, 1);
    }
    const std::vector<double> errors = errors_of_shortfall(without, widest);
    chosen = 0;
    const auto as_good = [&](std::size_t k) {
      return widths[widest] - widths[k] <= standard_errors * errors[k];
    };
    while (chosen < widest && !(peaks(widths, chosen) && as_good(chosen))) ++chosen;
  }
  const std::size_t groups = least + chosen;
  return {{tree.cut(groups), static_cast<int>(groups), widths[chosen]},
          static_cast<int>(least + widest),
          widths[widest]};
}

}  // namespace fathom
