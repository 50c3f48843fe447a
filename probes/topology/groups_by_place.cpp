#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "probes/topology/groups.h"
#include "probes/topology/names.h"

// GPCs by latency, however little they differ.

namespace fathom::topology {
namespace {

using Members = std::vector<std::size_t>;

/// Cycles, root mean square over lines, by which two parts of a region are at different places. On
/// an H200 such parts are 4.5 cycles apart and more, each of SMs of all GPCs there; two GPCs that
/// are side by side are 1 to 2.
constexpr double least_detour = 2.5;

/// What additive models, one for each matrix, leave of the rows of these SMs alone.
Rows left_of(std::span<const Rows> matrices, const Members& sms) {
  Rows left(sms.size());
  for (const Rows& matrix : matrices) {
    Rows some;
    for (const std::size_t sm : sms) some.push_back(matrix[sm]);
    some = double_centred(some);
    for (std::size_t i = 0; i < sms.size(); ++i)
      left[i].insert(left[i].end(), some[i].begin(), some[i].end());
  }
  return left;
}

struct Halves {
  Members parts[2];
  double detour = 0;  ///< between the parts' means, root mean square over lines
};

Halves halves(std::span<const Rows> matrices, const Members& sms) {
  const Rows left = left_of(matrices, sms);
  const Labels labels = Dendrogram(correlation_distances(left)).cut(2);
  Halves result;
  for (std::size_t i = 0; i < sms.size(); ++i) result.parts[labels[i]].push_back(sms[i]);
  std::vector<double> difference(left.front().size());
  for (std::size_t i = 0; i < sms.size(); ++i) {
    const double weight =
        (labels[i] == 0 ? 1.0 : -1.0) / static_cast<double>(result.parts[labels[i]].size());
    for (std::size_t line = 0; line < difference.size(); ++line)
      difference[line] += weight * left[i][line];
  }
  const double squares =
      std::inner_product(difference.begin(), difference.end(), difference.begin(), 0.0);
  result.detour = std::sqrt(squares / static_cast<double>(difference.size()));
  return result;
}

/// Halves of halves of the SMs, as long as those are apart.
void add_places(std::vector<Members>& places, std::span<const Rows> matrices, const Members& sms) {
  constexpr std::size_t fewest = 4;
  if (sms.size() >= fewest) {
    const Halves two = halves(matrices, sms);
    if (two.detour >= least_detour) {
      for (const Members& part : two.parts) add_places(places, matrices, part);
      return;
    }
  }
  places.push_back(sms);
}

/// Half as many as GPCs: the largest in two, again and again.
std::vector<Members> regions_of(std::span<const Rows> matrices, std::size_t gpcs) {
  std::vector<Members> regions(1, Members(matrices.front().size()));
  std::iota(regions.front().begin(), regions.front().end(), std::size_t{0});
  while (2 * regions.size() < gpcs) {
    const auto largest = std::ranges::max_element(regions, {}, &Members::size);
    if (largest->size() < 2) break;
    const Halves two = halves(matrices, *largest);
    *largest = two.parts[0];
    regions.push_back(two.parts[1]);
  }
  return regions;
}

struct Labelled {
  Labels labels;
  std::vector<int> region;  ///< by SM
  Rows left;                ///< by SM: of the model of its place
};

Labelled label(std::span<const Rows> matrices, std::size_t gpcs) {
  const std::size_t sms = matrices.front().size();
  Labelled result;
  result.left.resize(sms);
  result.region.resize(sms);
  int number = 0;
  std::vector<int> labels(sms);
  int first_label = 0;
  for (const Members& region : regions_of(matrices, gpcs)) {
    std::vector<Members> places;
    add_places(places, matrices, region);
    for (const Members& place : places) {
      const Rows left = left_of(matrices, place);
      for (std::size_t i = 0; i < place.size(); ++i) result.left[place[i]] = left[i];
    }
    Rows of_region;
    for (const std::size_t sm : region) {
      of_region.push_back(result.left[sm]);
      result.region[sm] = number;
    }
    ++number;
    const double share = static_cast<double>(region.size() * gpcs) / static_cast<double>(sms);
    const auto groups =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(share)), 1, region.size());
    const Labels own = Dendrogram(correlation_distances(of_region)).cut(groups);
    for (std::size_t i = 0; i < region.size(); ++i) labels[region[i]] = first_label + own[i];
    first_label += static_cast<int>(groups);
  }
  result.labels = renumbered(labels);
  return result;
}

}  // namespace

LatencyGpcs gpcs_by_latency(std::span<const Entry> entries, int gpcs) {
  LatencyGpcs result;
  std::vector<Rows> all, of_set[2];
  for (const char* instruction : {load_instruction, atomic_instruction}) {
    Matrix both = both_sets(entries, instruction);
    const bool usable =
        both.reason.empty() && (all.empty() || all.front().size() == both.rows.size());
    if (usable || result.instructions.empty()) result.matrix = std::move(both);
    if (!usable) continue;
    result.instructions += (result.instructions.empty() ? "" : " and ") + std::string(instruction);
    for (const int set : {0, 1}) {
      of_set[set].push_back(latency_matrix(entries, instruction, set).rows);
      all.push_back(of_set[set].back());
    }
  }
  result.reason = result.matrix.reason;
  if (!result.reason.empty()) return result;
  const auto groups = static_cast<std::size_t>(gpcs);
  if (gpcs < 2 || result.matrix.rows.size() < 4 * groups) {
    result.reason =
        fmt::format("{} SMs are too few to be {} GPCs by latency", result.matrix.rows.size(), gpcs);
    return result;
  }
  Labelled both = label(all, groups);
  result.labels = std::move(both.labels);
  result.left = std::move(both.left);
  result.region = std::move(both.region);
  result.reproducibility =
      adjusted_rand_index(label(of_set[0], groups).labels, label(of_set[1], groups).labels);
  return result;
}

}  // namespace fathom::topology
