#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "probes/topology/groups.h"

// TPCs: pairs of SMs by how often clusters of two join them, and how alike their latencies are.

namespace fathom::topology {
namespace {

struct Partner {
  std::size_t sm = 0;
  double best = -INFINITY, next = -INFINITY;  ///< the row's two largest figures with others
};

Partner largest_of(const std::vector<double>& row, std::size_t own) {
  Partner partner{own};
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (j == own) continue;
    if (row[j] > partner.best)
      partner = {j, row[j], partner.best};
    else
      partner.next = std::max(partner.next, row[j]);
  }
  return partner;
}

/// How many times as often as with any other an SM must share a cluster with its partner.
constexpr double least_margin = 2;

/// Each SM with the one of its largest figure, if that is so both ways; of counts, if each is large
/// enough.
void pair_up(SmPairs& result, const Rows& figures, bool counts) {
  const auto partner_of = [&](std::size_t sm) {
    const Partner partner = largest_of(figures[sm], sm);
    const bool enough = partner.best > 0 && partner.best >= least_margin * partner.next;
    return counts && !enough ? sm : partner.sm;
  };
  Pairs pairs;
  for (std::size_t i = 0; i < figures.size(); ++i)
    if (const std::size_t other = partner_of(i); other != i && partner_of(other) == i)
      pairs.emplace_back(i, other);
  result.labels = connected(figures.size(), pairs);
  result.paired = static_cast<int>(pairs.size());
}

}  // namespace

SmPairs pairs_by_clusters(std::span<const Entry> entries) {
  SmPairs result, halves[2];
  for (const int half : {0, 1}) {
    Matrix& matrix = halves[half].matrix =
        matrix_of(entries, {{"sweep", pair_sweep},
                            {"blocks per SM", std::int64_t{pair_blocks_per_sm}},
                            {"launches", set_names[half]}});
    const std::size_t sms = halves[0].matrix.rows.size();
    if (matrix.reason.empty() && (matrix.rows.size() != sms || matrix.rows.front().size() != sms))
      matrix.reason = "the counts are not of each two SMs";
    if (!matrix.reason.empty()) result.reason = fmt::format("clusters of two: {}", matrix.reason);
    if (!matrix.reason.empty()) return result;
    pair_up(halves[half], matrix.rows, true);
  }
  const Matrix& second = halves[1].matrix;
  result.matrix = halves[0].matrix;
  Rows& counts = result.matrix.rows;
  const std::size_t sms = counts.size();
  for (std::size_t i = 0; i < sms; ++i)
    for (std::size_t j = 0; j < sms; ++j) counts[i][j] += second.rows[i][j];
  result.matrix.repeats += second.repeats;
  append(result.matrix.evidence, second.evidence);
  pair_up(result, counts, true);
  // The share of an SM's clusters with its most and with its second most frequent partner.
  result.share = INFINITY;
  for (std::size_t sm = 0; sm < sms; ++sm) {
    const double all = std::accumulate(counts[sm].begin(), counts[sm].end(), 0.0);
    if (all <= 0) continue;
    const Partner partner = largest_of(counts[sm], sm);
    result.share = std::min(result.share, partner.best / all);
    result.next_share = std::max(result.next_share, partner.next / all);
  }
  result.reproducibility = adjusted_rand_index(halves[0].labels, halves[1].labels);
  if (result.paired < same_groups * static_cast<double>(sms))
    result.reason = fmt::format(
        "with room for {} blocks on an SM, clusters of two join {} of {} SMs with one other at "
        "least {:.0f} times as often as with any third",
        pair_blocks_per_sm, result.paired, sms, least_margin);
  return result;
}

SmPairs pairs_by_latency(const Latencies& loads, const Latencies& atomics) {
  SmPairs result;
  result.matrix = loads.both;
  result.reason = result.matrix.reason;
  Rows rows = result.matrix.rows;
  if (atomics.both.rows.size() == rows.size())
    for (std::size_t sm = 0; sm < rows.size(); ++sm) append(rows[sm], atomics.both.rows[sm]);
  // Square difference of each two rows, negative: the nearest is the largest.
  Rows nearness(rows.size(), std::vector<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows.size(); ++j)
      nearness[i][j] =
          -std::transform_reduce(rows[i].begin(), rows[i].end(), rows[j].begin(), 0.0, std::plus(),
                                 [](double a, double b) { return (a - b) * (a - b); });
  pair_up(result, nearness, false);
  return result;
}

}  // namespace fathom::topology
