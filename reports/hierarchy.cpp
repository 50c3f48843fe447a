#include "reports/hierarchy.h"

#include <algorithm>
#include <array>

#include "reports/scale.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

constexpr std::array levels{"registers", "shared", "l1", "dsmem", "l2", "dram", "peer", "host"};

/// Below this, there is nothing to hold against each other.
constexpr std::size_t fewest_levels = 2;

const Fact* find_fact(const Document& document, const std::string& id) {
  const auto found = std::find_if(document.facts.begin(), document.facts.end(),
                                  [&](const Fact& fact) { return fact.id == id && fact.value; });
  return found == document.facts.end() ? nullptr : &*found;
}

}  // namespace

std::span<const char* const> level_parts() { return levels; }

std::string part_of(const Fact& fact) { return fact.id.substr(0, fact.id.find('.')); }

std::vector<LevelRow> hierarchy(const Document& document) {
  std::vector<LevelRow> rows;
  for (const std::string level : levels) {
    LevelRow row;
    const auto figure = [&](const char* quantity) -> LevelFigure {
      const Fact* fact = find_fact(document, level + "." + quantity);
      if (!fact) return {};
      if (row.name.empty()) row.name = capitalised(fact->subject);
      return {fact->value, fact->unit, ""};
    };
    // First, since it names the level alone: a size may hold for one setting of it.
    row.latency = figure("latency");
    row.size = figure("size");
    row.bandwidth = figure("bandwidth");
    if (const Fact* time = find_fact(document, level + ".latency_time");
        time && row.latency.value) {
      row.latency.beside = format_quantity(time->value, time->unit);
    }
    if (!row.name.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

bool has_atlas(const Document& document) { return hierarchy(document).size() >= fewest_levels; }

}  // namespace fathom::reports
