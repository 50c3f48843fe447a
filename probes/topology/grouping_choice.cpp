#include "probes/topology/grouping_choice.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fathom {
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
