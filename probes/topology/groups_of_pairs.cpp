#include "probes/topology/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/topology/names.h"
#include "results/statistics.h"

// TPCs: pairs of SMs by how they slow each other down, how often clusters of two join them, and how
// alike their latencies are.

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

/// Each SM with the one of its largest figure, if that is so both ways and `good(SM, its partner)`.
template <class Good>
void pair_up(PairLabels& result, const Rows& figures, const Good& good) {
  Pairs pairs;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Partner partner = largest_of(figures[i], i);
    if (!good(i, partner)) continue;
    const Partner back = largest_of(figures[partner.sm], partner.sm);
    if (back.sm == i && good(partner.sm, back)) pairs.emplace_back(i, partner.sm);
  }
  result.labels = connected(figures.size(), pairs);
  result.paired = static_cast<int>(pairs.size());
}

/// Share of the bandwidth alone that SMs i and j lose beside each other, mean of both.
Rows slowdowns(const Rows& bandwidth) {
  Rows loss(bandwidth.size(), std::vector<double>(bandwidth.size()));
  for (std::size_t i = 0; i < bandwidth.size(); ++i) {
    for (std::size_t j = 0; j < bandwidth.size(); ++j) {
      if (i == j) continue;
      loss[i][j] = 1 - (bandwidth[i][j] / bandwidth[i][i] + bandwidth[j][i] / bandwidth[j][j]) / 2;
    }
  }
  return loss;
}

/// Whether an SM's partner slows it down by far more than the others do.
bool stands_out(const Rows& loss, std::size_t sm, const Partner& partner) {
  // A port that two SMs share costs each a good part of what it had; all else they share, the L2
  // and what leads there, is made for far more than two SMs.
  constexpr double least_excess = 0.05, least_spreads = 6;
  std::vector<double> others;
  for (std::size_t j = 0; j < loss.size(); ++j)
    if (j != sm && j != partner.sm) others.push_back(loss[sm][j]);
  return partner.best - median(others) >=
         std::max(least_excess, least_spreads * robust_spread(others));
}

ContentionPairs contention_by(std::span<const Entry> entries, const char* instruction) {
  ContentionPairs result;
  result.instruction = instruction;
  result.matrix = matrix_of(entries, {{"sweep", contention_sweep}, {"instruction", instruction}});
  result.reason = result.matrix.reason;
  const Rows& bandwidth = result.matrix.rows;
  if (result.reason.empty() && bandwidth.size() < 3)
    result.reason = "pairs stand out among three SMs or more only";
  if (result.reason.empty() && bandwidth.front().size() != bandwidth.size())
    result.reason = "its entries are of other SMs";
  if (!result.reason.empty()) return result;
  const Rows loss = slowdowns(bandwidth);
  pair_up(result, loss, [&](std::size_t sm, const Partner& p) { return stands_out(loss, sm, p); });
  std::vector<double> of_pairs, of_others;
  for (std::size_t i = 0; i < loss.size(); ++i)
    for (std::size_t j = i + 1; j < loss.size(); ++j)
      (result.labels[i] == result.labels[j] ? of_pairs : of_others).push_back(loss[i][j]);
  if (!of_pairs.empty()) result.slowdown = median(of_pairs);
  if (!of_others.empty()) result.other_slowdown = median(of_others);
  if (result.paired < same_groups * static_cast<double>(loss.size())) {
    result.reason =
        fmt::format("by {}, {} of {} SMs have one other SM that slows them down as no other does",
                    instruction, result.paired, loss.size());
  }
  return result;
}

/// How many times as often as with any other an SM must share a cluster with its partner.
constexpr double least_margin = 2;

void pair_by_counts(PairLabels& result, const Rows& counts) {
  pair_up(
      result, counts,
      [](std::size_t, const Partner& partner) {
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

ClusterPairs clusters_by(std::span<const Entry> entries, std::int64_t blocks_per_sm) {
  ClusterPairs result;
  Matrix halves[2];
  for (const int half : {0, 1}) {
    halves[half] = matrix_of(
        entries,
        {{"sweep", pair_sweep}, {"blocks per SM", blocks_per_sm}, {"launches", set_names[half]}});
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
  result.blocks_per_sm = blocks_per_sm;
  pair_by_counts(result, counts);
  measure_shares(result, counts);
  PairLabels of_half[2];
  for (const int half : {0, 1}) pair_by_counts(of_half[half], halves[half].rows);
  result.reproducibility = adjusted_rand_index(of_half[0].labels, of_half[1].labels);
  if (result.paired < same_groups * static_cast<double>(counts.size())) {
    result.reason = fmt::format(
        "with room for {} blocks on an SM, clusters of two join {} of {} SMs with one other at "
        "least {:.0f} times as often as with any third",
        blocks_per_sm, result.paired, counts.size(), least_margin);
  }
  return result;
}

}  // namespace

ContentionPairs pairs_by_contention(std::span<const Entry> entries) {
  ContentionPairs by_stores = contention_by(entries, store_instruction);
  ContentionPairs by_loads = contention_by(entries, load_instruction);
  if (by_stores.paired == 0 && by_loads.paired == 0 && by_stores.reason != by_loads.reason)
    by_stores.reason = fmt::format("stores: {}; loads: {}", by_stores.reason, by_loads.reason);
  return by_loads.paired > by_stores.paired ? by_loads : by_stores;
}

ClusterPairs pairs_by_clusters(std::span<const Entry> entries) {
  // Several blocks on an SM, and SMs that become free in any order, say more than the first wave,
  // which may follow one order each time.
  ClusterPairs later = clusters_by(entries, 4);
  if (later.reason.empty()) return later;
  ClusterPairs first_wave = clusters_by(entries, 1);
  if (!first_wave.reason.empty() && first_wave.reason != later.reason)
    first_wave.reason = fmt::format("{}; {}", later.reason, first_wave.reason);
  return first_wave;
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
  pair_up(result, nearness(rows), [](std::size_t, const Partner&) { return true; });
  return result;
}

}  // namespace fathom::topology
