#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "fleet/sections.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::fleet {

namespace {

/// A pair's link is not slower than others' by this much for nothing: pairs of one kind are within
/// a few percent of each other.
constexpr double slow_pair = 0.95;

/// One pair of GPUs of a host, by one engine, in one direction.
struct Pair {
  const std::string* host;
  const LinkPair* pair;
};

/// The slowest pair of each kind of transfer over all hosts, against the median of them all: a
/// median for each host, as the facts have it, does not show a single bad link.
void write_pairs(FleetWriting& to) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<Pair>> kinds;
  for (const HostLinks& links : to.fleet.links)
    for (const LinkPair& pair : links.pairs) {
      const LinkKind& kind = links.kinds[pair.kind];
      if (pair.value)
        kinds[{kind.engine, kind.direction, kind.unit}].push_back({&links.host, &pair});
    }
  Table table({left("Engine"), left("Direction"), right("Pairs"), right("Median"), right("Slowest"),
               right("Of the median"), right("Of bound"), left("Which")});
  std::vector<std::string> slow;
  for (const auto& [kind, pairs] : kinds) {
    const auto& [engine, direction, unit] = kind;
    std::vector<double> values;
    for (const Pair& pair : pairs) values.push_back(*pair.pair->value);
    const double typical = median(values);
    const Pair& worst =
        *std::ranges::min_element(pairs, {}, [](const Pair& pair) { return *pair.pair->value; });
    const double value = *worst.pair->value;
    const std::string which =
        fmt::format("{} GPU {} to {}", *worst.host, worst.pair->from, worst.pair->to);
    const Reading bound = worst.pair->bound;
    table.add_row({escape_text(engine), escape_text(direction), std::to_string(pairs.size()),
                   quantity(typical, unit), quantity(value, unit),
                   fmt::format("{:.1f} %", 100 * value / typical),
                   bound ? fmt::format("{:.1f} %", 100 * value / *bound) : "–",
                   escape_text(which)});
    if (value < slow_pair * typical)
      slow.push_back(fmt::format("{} ({}, {})", which, engine, direction));
  }
  if (!slow.empty())
    to.page.paragraph(
        escape_text(fmt::format("Slower than the median pair by more than {:.0f} %: {}.",
                                100 * (1 - slow_pair), fmt::join(slow, "; "))));
  to.page.table("The slowest pair of GPUs", table);
}

}  // namespace

void write_links(FleetWriting& to) {
  if (to.fleet.links.empty()) return;
  to.page.heading(2, "Links", "links");
  struct Row {
    const LinkFact* first;
    std::vector<double> values{};
    std::set<std::string> hosts{};
    std::optional<double> worst{}, bound{};
    std::string worst_host{};
  };
  std::vector<Row> rows;  // in the order of the facts
  std::map<std::string, std::size_t> places;
  for (const HostLinks& links : to.fleet.links) {
    for (const LinkFact& fact : links.facts) {
      const auto [at, is_new] = places.try_emplace(fact.id, rows.size());
      if (is_new) rows.push_back({&fact});
      Row& row = rows[at->second];
      if (!fact.value) continue;
      row.values.push_back(*fact.value);
      row.hosts.insert(links.host);
      if (fact.bound) row.bound = fact.bound;
      const bool worse = !row.worst || (fact.better == Better::higher ? *fact.value < *row.worst
                                                                      : *fact.value > *row.worst);
      if (worse) row.worst = fact.value, row.worst_host = links.host;
    }
  }
  Table table({left("Between"), left("What"), right("Hosts"), right("Median"), right("Worst"),
               left("On"), right("Bound"), right("Of bound")});
  std::map<std::string, std::vector<std::string>> missing;
  for (const Row& row : rows) {
    const LinkFact& fact = *row.first;
    if (row.values.empty()) {
      missing[fact.reason].push_back(fact.quantity);
      continue;
    }
    const double typical = median(row.values);
    table.add_row({escape_text(fact.subject), escape_text(fact.quantity),
                   std::to_string(row.hosts.size()), quantity(typical, fact.unit),
                   quantity(row.worst, fact.unit), escape_text(row.worst_host),
                   quantity(row.bound, fact.unit),
                   row.bound ? fmt::format("{:.1f} %", 100 * typical / *row.bound) : "–"});
  }
  to.page.table("What links carry: the best size or the median pair of each host", table);
  write_pairs(to);
  for (const auto& [reason, quantities] : missing)
    to.page.paragraph(
        escape_text(fmt::format("Not measured ({}): {}.", fmt::join(quantities, ", "), reason)));
}

}  // namespace fathom::fleet
