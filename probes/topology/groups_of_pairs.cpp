#include "probes/topology/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/topology/names.h"
#include "results/statistics.h"

// What SMs share: ports.

namespace fathom::topology {
namespace {

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

/// The SM that slows `sm` down most, if it does so by far more than the others.
std::optional<std::size_t> partner_of(const Rows& loss, std::size_t sm) {
  // A port that two SMs share costs each a good part of what it had; all else they share, the L2
  // and what leads there, is made for far more than two SMs.
  constexpr double least_excess = 0.05, least_spreads = 6;
  std::size_t partner = sm == 0 ? 1 : 0;
  for (std::size_t j = 0; j < loss.size(); ++j)
    if (j != sm && loss[sm][j] > loss[sm][partner]) partner = j;
  std::vector<double> others;
  for (std::size_t j = 0; j < loss.size(); ++j)
    if (j != sm && j != partner) others.push_back(loss[sm][j]);
  if (others.empty()) return std::nullopt;
  const double excess = loss[sm][partner] - median(others);
  if (excess < std::max(least_excess, least_spreads * robust_spread(others))) return std::nullopt;
  return partner;
}

ContentionPairs pairs_by(std::span<const Entry> entries, const char* instruction) {
  ContentionPairs result;
  result.instruction = instruction;
  result.matrix = matrix_of(entries, {{"sweep", contention_sweep}, {"instruction", instruction}});
  result.reason = result.matrix.reason;
  const Rows& bandwidth = result.matrix.rows;
  if (!result.reason.empty() || bandwidth.size() < 3) {
    if (result.reason.empty()) result.reason = "pairs stand out among three SMs or more only";
    return result;
  }
  if (bandwidth.front().size() != bandwidth.size()) {
    result.reason = "its entries are of other SMs";
    return result;
  }
  const Rows loss = slowdowns(bandwidth);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<double> of_pairs, of_others;
  for (std::size_t i = 0; i < loss.size(); ++i) {
    const auto partner = partner_of(loss, i);
    const bool mutual = partner && partner_of(loss, *partner) == i;
    for (std::size_t j = i + 1; j < loss.size(); ++j)
      (mutual && j == *partner ? of_pairs : of_others).push_back(loss[i][j]);
    if (mutual) pairs.emplace_back(i, *partner);
  }
  result.labels = connected(loss.size(), pairs);
  result.paired = static_cast<int>(pairs.size());
  if (!of_pairs.empty()) result.slowdown = median(of_pairs);
  if (!of_others.empty()) result.other_slowdown = median(of_others);
  if (result.paired < same_groups * static_cast<double>(loss.size())) {
    result.reason =
        fmt::format("by {}, {} of {} SMs have one other SM that slows them down as no other does",
                    instruction, result.paired, loss.size());
  }
  return result;
}

}  // namespace

ContentionPairs pairs_by_contention(std::span<const Entry> entries) {
  ContentionPairs by_stores = pairs_by(entries, store_instruction);
  ContentionPairs by_loads = pairs_by(entries, load_instruction);
  if (by_stores.paired == 0 && by_loads.paired == 0 && by_stores.reason != by_loads.reason)
    by_stores.reason = fmt::format("stores: {}; loads: {}", by_stores.reason, by_loads.reason);
  return by_loads.paired > by_stores.paired ? by_loads : by_stores;
}

// TPCs: pairs of SMs by how often clusters of two join them, and by how alike their latencies are.

namespace {

/// How many times as often as with any other an SM must share a cluster with its partner.
constexpr double least_margin = 2;

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

template <class Good>
PairLabels mutual_pairs(const Rows& figures, const Good& good) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Partner partner = largest_of(figures[i], i);
    if (!good(partner)) continue;
    const Partner back = largest_of(figures[partner.sm], partner.sm);
    if (back.sm == i && good(back)) pairs.emplace_back(i, partner.sm);
  }
  return {connected(figures.size(), pairs), static_cast<int>(pairs.size())};
}

PairLabels pairs_of_counts(const Rows& counts) {
  return mutual_pairs(
      counts,
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

ClusterPairs pairs_by(std::span<const Entry> entries, std::int64_t blocks_per_sm) {
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
  result.pairs = pairs_of_counts(counts);
  measure_shares(result, counts);
  result.reproducibility = adjusted_rand_index(pairs_of_counts(halves[0].rows).labels,
                                               pairs_of_counts(halves[1].rows).labels);
  if (result.pairs.paired < same_groups * static_cast<double>(counts.size())) {
    result.reason = fmt::format(
        "with room for {} blocks on an SM, clusters of two join {} of {} SMs with one other at "
        "least {:.0f} times as often as with any third",
        blocks_per_sm, result.pairs.paired, counts.size(), least_margin);
  }
  return result;
}

}  // namespace

ClusterPairs pairs_by_clusters(std::span<const Entry> entries) {
  // Several blocks on an SM, and SMs that become free in any order, say more than the first wave,
  // which may follow one order each time.
  ClusterPairs later = pairs_by(entries, 4);
  if (later.reason.empty()) return later;
  ClusterPairs first_wave = pairs_by(entries, 1);
  if (!first_wave.reason.empty() && first_wave.reason != later.reason)
    first_wave.reason = fmt::format("{}; {}", later.reason, first_wave.reason);
  return first_wave;
}

LatencyPairs pairs_by_latency(std::span<const Entry> entries) {
  LatencyPairs result;
  result.matrix = both_sets(entries, load_instruction);
  result.reason = result.matrix.reason;
  if (!result.reason.empty()) return result;
  Rows rows = result.matrix.rows;
  const Matrix atomics = both_sets(entries, atomic_instruction);
  if (atomics.reason.empty() && atomics.rows.size() == rows.size())
    for (std::size_t sm = 0; sm < rows.size(); ++sm)
      rows[sm].insert(rows[sm].end(), atomics.rows[sm].begin(), atomics.rows[sm].end());
  result.pairs = mutual_pairs(nearness(rows), [](const Partner&) { return true; });
  return result;
}

}  // namespace fathom::topology
