#include "reports/fact_groups.h"

#include <algorithm>
#include <utility>

namespace fathom::reports {
namespace {

constexpr std::size_t fewest_rows = 3;

struct QuantityColumn {
  std::string quantity;
  FactList facts;  ///< of different subjects

  const Fact* of(const std::string& subject) const {
    const auto found = std::ranges::find(facts, subject, &Fact::subject);
    return found == facts.end() ? nullptr : *found;
  }
};

/// Most facts first. Of two facts on the same, the second is no column's: a cell holds one.
std::vector<QuantityColumn> columns_of(const FactList& facts) {
  std::vector<QuantityColumn> columns;
  for (const Fact* fact : facts) {
    if (!fact->value) continue;
    auto column = std::ranges::find(columns, fact->quantity, &QuantityColumn::quantity);
    if (column == columns.end()) column = columns.insert(column, {fact->quantity, {}});
    if (column->of(fact->subject) == nullptr) column->facts.push_back(fact);
  }
  std::erase_if(columns, [](const QuantityColumn& c) { return c.facts.size() < fewest_rows; });
  std::ranges::stable_sort(columns, std::greater<>{},
                           [](const QuantityColumn& c) { return c.facts.size(); });
  return columns;
}

bool belongs_beside(const QuantityColumn& column, const QuantityColumn& first) {
  const auto shared = static_cast<std::size_t>(std::ranges::count_if(
      column.facts, [&](const Fact* fact) { return first.of(fact->subject) != nullptr; }));
  return 2 * shared >= column.facts.size() && 3 * shared >= first.facts.size();
}

FactGrid grid_of(const std::vector<QuantityColumn>& columns, const FactList& facts) {
  FactGrid grid;
  for (const QuantityColumn& column : columns) grid.quantities.push_back(column.quantity);
  for (const Fact* fact : facts) {
    if (std::ranges::find(grid.rows, fact->subject, &FactGrid::Row::subject) != grid.rows.end()) {
      continue;
    }
    FactGrid::Row row{fact->subject, {}};
    for (const QuantityColumn& column : columns) row.facts.push_back(column.of(fact->subject));
    const auto is_there = [](const Fact* cell) { return cell != nullptr; };
    if (std::ranges::any_of(row.facts, is_there)) grid.rows.push_back(std::move(row));
  }
  return grid;
}

}  // namespace

std::size_t FactGrid::facts() const {
  std::size_t number = 0;
  for (const Row& row : rows) {
    number += row.facts.size() - static_cast<std::size_t>(std::ranges::count(
                                     row.facts, static_cast<const Fact*>(nullptr)));
  }
  return number;
}

GroupedFacts group_facts(const FactList& facts) {
  std::vector<std::vector<QuantityColumn>> grids;
  FactList placed;
  for (QuantityColumn& column : columns_of(facts)) {
    placed.insert(placed.end(), column.facts.begin(), column.facts.end());
    const auto beside = std::ranges::find_if(grids, [&](const std::vector<QuantityColumn>& grid) {
      return belongs_beside(column, grid.front());
    });
    if (beside == grids.end()) {
      grids.push_back({std::move(column)});
    } else {
      beside->push_back(std::move(column));
    }
  }
  GroupedFacts result;
  for (const std::vector<QuantityColumn>& columns : grids)
    result.grids.push_back(grid_of(columns, facts));
  for (const Fact* fact : facts) {
    if (fact->value && std::ranges::find(placed, fact) == placed.end()) {
      result.others.push_back(fact);
    }
  }
  return result;
}

}  // namespace fathom::reports
