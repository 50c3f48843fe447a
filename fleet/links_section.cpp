#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string share(double value, const std::optional<double>& of) {
  return of ? fmt::format("{:.1f} %", 100 * value / *of) : "–";
}

/// The slowest pair of each kind of transfer over all hosts, against the median of them all: a
/// median for each host, as the facts have it, does not show a single bad link.
void write_pairs(FleetWriting& to) {
  struct Pairs {
    std::vector<double> values{};
    const LinkPair* worst = nullptr;
    const std::string* host = nullptr;  ///< of the worst
  };
  std::map<std::tuple<std::string, std::string, std::string>, Pairs> kinds;
  for (const HostLinks& links : to.fleet.links)
    for (const LinkPair& pair : links.pairs) {
      if (!pair.value) continue;
      const LinkKind& kind = links.kinds[pair.kind];
      Pairs& pairs = kinds[{kind.engine, kind.direction, kind.unit}];
      pairs.values.push_back(*pair.value);
      if (!pairs.worst || *pair.value < *pairs.worst->value)
        pairs.worst = &pair, pairs.host = &links.host;
    }
  Table table({left("Engine"), left("Direction"), right("Pairs"), right("Median"), right("Slowest"),
               right("Of the median"), right("Of bound"), left("Which")});
  std::vector<std::string> slow;
  for (const auto& [kind, pairs] : kinds) {
    const auto& [engine, direction, unit] = kind;
    const LinkPair& worst = *pairs.worst;
    const double typical = median(pairs.values), value = *worst.value;
    const std::string which = fmt::format("{} GPU {} to {}", *pairs.host, worst.from, worst.to);
    table.add_row({escape_text(engine), escape_text(direction), std::to_string(pairs.values.size()),
                   quantity(typical, unit), quantity(value, unit), share(value, typical),
                   share(value, worst.bound.optional()), escape_text(which)});
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
                   quantity(row.bound, fact.unit), share(typical, row.bound)});
  }
  to.page.table("What links carry: the best size or the median pair of each host", table);
  write_pairs(to);
  for (const auto& [reason, quantities] : missing)
    to.page.paragraph(
        escape_text(fmt::format("Not measured ({}): {}.", fmt::join(quantities, ", "), reason)));
}

}  // namespace fathom::fleet
