#include "probes/topology/groups.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace fathom::topology
