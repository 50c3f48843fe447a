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

/// Each SM with the one of its largest figure, if that is so both ways and each is `good`.
void pair_up(SmPairs& result, const Rows& figures, bool (*good)(const Partner&)) {
  Pairs pairs;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Partner partner = largest_of(figures[i], i);
    if (!good(partner)) continue;
    const Partner back = largest_of(figures[partner.sm], partner.sm);
    if (back.sm == i && good(back)) pairs.emplace_back(i, partner.sm);
  }
  result.labels = connected(figures.size(), pairs);
  result.paired = static_cast<int>(pairs.size());
}

/// How many times as often as with any other an SM must share a cluster with its partner.
constexpr double least_margin = 2;

bool is_frequent(const Partner& partner) {
  return partner.best > 0 && partner.best >= least_margin * partner.next;
}

/// Square difference of each two rows, negative: the nearest is the largest.
Rows nearness(const Rows& rows) {
  Rows result(rows.size(), std::vector<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      result[i][j] = result[j][i] =
          -std::transform_reduce(rows[i].begin(), rows[i].end(), rows[j].begin(), 0.0, std::plus(),
                                 [](double a, double b) { return (a - b) * (a - b); });
  return result;
}

}  // namespace

SmPairs pairs_by_clusters(std::span<const Entry> entries) {
  SmPairs result, of_half[2];
  for (const int half : {0, 1}) {
    Matrix& matrix = of_half[half].matrix =
        matrix_of(entries, {{"sweep", pair_sweep},
                            {"blocks per SM", std::int64_t{pair_blocks_per_sm}},
                            {"launches", set_names[half]}});
    if (!matrix.reason.empty()) result.reason = fmt::format("clusters of two: {}", matrix.reason);
    if (!matrix.reason.empty()) return result;
  }
  const Matrix& second = of_half[1].matrix;
  result.matrix = of_half[0].matrix;
  Rows& counts = result.matrix.rows;
  const std::size_t sms = counts.size();
  if (sms < 3 || second.rows.size() != sms || counts.front().size() != sms ||
      second.rows.front().size() != sms) {
    result.reason = "counts of clusters of two are not of the same three SMs and more";
    return result;
  }
  for (SmPairs& half : of_half) pair_up(half, half.matrix.rows, is_frequent);
  for (std::size_t i = 0; i < sms; ++i)
    for (std::size_t j = 0; j < sms; ++j) counts[i][j] += second.rows[i][j];
  result.matrix.repeats += second.repeats;
  result.matrix.evidence.insert(result.matrix.evidence.end(), second.evidence.begin(),
                                second.evidence.end());
  pair_up(result, counts, is_frequent);
  // The share of an SM's clusters with its most and with its second most frequent partner.
  result.share = INFINITY;
  for (std::size_t sm = 0; sm < sms; ++sm) {
    const double all = std::accumulate(counts[sm].begin(), counts[sm].end(), 0.0);
    if (all <= 0) continue;
    const Partner partner = largest_of(counts[sm], sm);
    result.share = std::min(result.share, partner.best / all);
    result.next_share = std::max(result.next_share, partner.next / all);
  }
  result.reproducibility = adjusted_rand_index(of_half[0].labels, of_half[1].labels);
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
  if (!result.reason.empty()) return result;
  Rows rows = result.matrix.rows;
  if (atomics.both.rows.size() == rows.size())
    for (std::size_t sm = 0; sm < rows.size(); ++sm)
      rows[sm].insert(rows[sm].end(), atomics.both.rows[sm].begin(), atomics.both.rows[sm].end());
  pair_up(result, nearness(rows), [](const Partner&) { return true; });
  return result;
}

}  // namespace fathom::topology
