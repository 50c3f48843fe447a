#include "probes/topology/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/topology/names.h"

// TPCs: pairs of SMs by how often clusters of two join them, and how alike their latencies are.

namespace fathom::topology {
namespace {

struct Partner {
  std::size_t sm = 0;
  double best = 0, next = 0;  ///< of the row's figures with others than itself, the two largest
};

Partner largest_of(const std::vector<double>& row, std::size_t own) {
  Partner partner{own, -INFINITY, -INFINITY};
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
void pair_up(PairLabels& result, const Rows& figures, bool (*good)(const Partner&)) {
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

void pair_by_counts(PairLabels& result, const Rows& counts) {
  pair_up(
      result, counts,
      [](const Partner& partner) {
        return partner.best > 0 && partner.best >= least_margin * partner.next;
      });
}

/// Root mean square difference of each two rows, negative: the nearest is the largest.
Rows nearness(const Rows& rows) {
  Rows result(rows.size(), std::vector<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double squares = 0;
      for (std::size_t line = 0; line < rows[i].size(); ++line)
        squares += (rows[i][line] - rows[j][line]) * (rows[i][line] - rows[j][line]);
      result[i][j] = result[j][i] = -std::sqrt(squares / static_cast<double>(rows[i].size()));
    }
  }
  return result;
}

/// The share of an SM's clusters with its most and with its second most frequent partner.
void measure_shares(ClusterPairs& pairs, const Rows& counts) {
  std::vector<double> best, next;
  for (std::size_t sm = 0; sm < counts.size(); ++sm) {
    double all = 0;
    for (const double count : counts[sm]) all += count;
    if (all <= 0) continue;
    const Partner partner = largest_of(counts[sm], sm);
    best.push_back(partner.best / all);
    next.push_back(partner.next / all);
  }
  if (best.empty()) return;
  pairs.share = *std::ranges::min_element(best);
  pairs.next_share = *std::ranges::max_element(next);
}

}  // namespace

ClusterPairs pairs_by_clusters(std::span<const Entry> entries) {
  ClusterPairs result;
  Matrix halves[2];
  for (const int half : {0, 1}) {
    halves[half] = matrix_of(entries, {{"sweep", pair_sweep},
                                       {"blocks per SM", std::int64_t{pair_blocks_per_sm}},
                                       {"launches", set_names[half]}});
    if (!halves[half].reason.empty()) {
      result.reason = fmt::format("clusters of two: {}", halves[half].reason);
      return result;
    }
  }
  Rows counts = halves[0].rows;
  if (counts.size() < 3 || counts.size() != halves[1].rows.size() ||
      counts.front().size() != counts.size() || halves[1].rows.front().size() != counts.size()) {
    result.reason = "counts of clusters of two are not of the same three SMs and more";
    return result;
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (std::size_t j = 0; j < counts.size(); ++j) counts[i][j] += halves[1].rows[i][j];
  result.matrix = halves[0];
  result.matrix.repeats += halves[1].repeats;
  result.matrix.evidence.insert(result.matrix.evidence.end(), halves[1].evidence.begin(),
                                halves[1].evidence.end());
  pair_by_counts(result, counts);
  measure_shares(result, counts);
  PairLabels of_half[2];
  for (const int half : {0, 1}) pair_by_counts(of_half[half], halves[half].rows);
  result.reproducibility = adjusted_rand_index(of_half[0].labels, of_half[1].labels);
  if (result.paired < same_groups * static_cast<double>(counts.size())) {
    result.reason = fmt::format(
        "with room for {} blocks on an SM, clusters of two join {} of {} SMs with one other at "
        "least {:.0f} times as often as with any third",
        pair_blocks_per_sm, result.paired, counts.size(), least_margin);
  }
  return result;
}

PairLabels pairs_by_latency(std::span<const Entry> entries) {
  PairLabels result;
  result.matrix = both_sets(entries, load_instruction);
  result.reason = result.matrix.reason;
  if (!result.reason.empty()) return result;
  Rows rows = result.matrix.rows;
  const Matrix atomics = both_sets(entries, atomic_instruction);
  if (atomics.reason.empty() && atomics.rows.size() == rows.size())
    for (std::size_t sm = 0; sm < rows.size(); ++sm)
      rows[sm].insert(rows[sm].end(), atomics.rows[sm].begin(), atomics.rows[sm].end());
  pair_up(result, nearness(rows), [](const Partner&) { return true; });
  return result;
}

}  // namespace fathom::topology
