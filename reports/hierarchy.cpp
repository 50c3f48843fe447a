#include "reports/hierarchy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/facts_table.h"
#include "reports/scale.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

/// A level by the part of a fact's id before the first point, and what its size is the size of.
struct Level {
  const char* part;
  const char* size_of;
};

constexpr std::array levels{Level{"registers", "of each SM"}, Level{"shared", "of each SM"},
                            Level{"l1", "of each SM"},        Level{"dsmem", "of a cluster"},
                            Level{"l2", "of the GPU"},        Level{"dram", "of the GPU"},
                            Level{"peer", "of a GPU"},        Level{"host", "of the host"}};

constexpr const char* shown_quantities[] = {"latency", "size", "bandwidth", "latency_time",
                                            "bytes_per_clock"};

/// Below this, there is nothing to hold against each other.
constexpr std::size_t fewest_levels = 2;

const Fact* find_fact(const Document& document, const std::string& id) {
  const auto found = std::find_if(document.facts.begin(), document.facts.end(),
                                  [&](const Fact& fact) { return fact.id == id && fact.value; });
  return found == document.facts.end() ? nullptr : &*found;
}

}  // namespace

std::vector<LevelRow> hierarchy(const Document& document) {
  const Notes notes(document);
  std::vector<LevelRow> rows;
  for (const Level& level : levels) {
    LevelRow row;
    const auto fact_on = [&](const char* quantity) {
      return find_fact(document, std::string(level.part) + "." + quantity);
    };
    const auto text = [](const Fact* fact, const char* form) {
      return fact ? fmt::format(fmt::runtime(form), format_quantity(fact->value, fact->unit)) : "";
    };
    const auto cell = [&](const char* quantity, const std::string& beside) -> std::string {
      const Fact* fact = fact_on(quantity);
      if (!fact) return "–";
      if (row.name.empty()) row.name = escape_text(capitalised(fact->subject));
      return escape_text(text(fact, "{}") + beside) + (notes.is_noisy(fact->evidence) ? " ~" : "");
    };
    // First, since it names the level alone: a size may hold for one setting of it.
    row.latency = cell("latency", text(fact_on("latency_time"), " ({})"));
    row.bandwidth = cell("bandwidth", text(fact_on("bytes_per_clock"), " ({} an SM)"));
    row.size = cell("size", fmt::format(" {}", level.size_of));
    if (!row.name.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<const Fact*> level_facts(const Document& document) {
  std::vector<const Fact*> facts;
  for (const Level& level : levels) {
    for (const char* quantity : shown_quantities) {
      const Fact* fact = find_fact(document, fmt::format("{}.{}", level.part, quantity));
      if (fact != nullptr) facts.push_back(fact);
    }
  }
  return facts;
}

bool has_atlas(const Document& document) { return hierarchy(document).size() >= fewest_levels; }

}  // namespace fathom::reports
