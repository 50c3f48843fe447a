#include <fmt/format.h>

#include <algorithm>

#include "reports/facts.h"
#include "reports/facts_table.h"
#include "reports/hierarchy.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

std::string caption_of(const FactGrid& grid) {
  std::string text;
  for (std::size_t i = 0; i < grid.quantities.size(); ++i) {
    const bool last = i > 0 && i + 1 == grid.quantities.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + grid.quantities[i];
  }
  return fmt::format("{}: {}", escape_text(capitalised(text)),
                     counted(grid.facts(), "fact", "facts"));
}

FactList facts_of(const Document& document, const std::string& probe) {
  FactList own;
  for (const Fact& fact : document.facts) {
    if (fact.probe == probe) own.push_back(&fact);
  }
  return own;
}

bool is_of_a_level(const Document& document, const Fact& fact) {
  return std::ranges::any_of(level_facts(document), [&](const Fact* one) { return one == &fact; });
}

void write_of_probe(Writing& to, const std::string& probe) {
  const FactList facts = facts_of(to.document, probe);
  to.page.heading(3, escape_text(capitalised(spaced(probe))), "facts-" + slug(probe));
  to.page.explore("view=facts&q=" + url_encoded(probe));
  const GroupedFacts grouped = group_facts(facts);
  Notes notes(to.document);
  for (const FactGrid& grid : grouped.grids) {
    to.page.table(caption_of(grid), grid_table(grid, notes));
  }
  const std::size_t others = grouped.others.size();
  to.page.table(counted(others, grouped.grids.empty() ? "fact" : "other fact",
                        grouped.grids.empty() ? "facts" : "other facts"),
                fact_table(grouped.others, notes));
  if (const auto sources = notes.list(); !sources.empty()) {
    to.page.paragraph(fmt::format("{}", fmt::join(sources, "<br>\n")));
  }
  to.page.list(missing_facts(facts));
}

}  // namespace

std::vector<std::string> probes_with_facts(const Document& document) {
  std::vector<std::string> probes;
  for (const Fact& fact : document.facts) {
    if (std::ranges::find(probes, fact.probe) == probes.end()) probes.push_back(fact.probe);
  }
  std::ranges::stable_sort(probes, std::greater<>{}, [&](const std::string& probe) {
    return std::ranges::count_if(facts_of(document, probe),
                                 [&](const Fact* fact) { return is_of_a_level(document, *fact); });
  });
  return probes;
}

void write_facts_by_probe(Writing& to) {
  to.page.paragraph(
      "± is how far the confidence interval of the median reaches from the value, mostly of 95 %. "
      "A bound is what physics or the architecture allows. Published is what others found, and by "
      "how much this GPU is off that; numbers in brackets lead to the sources under the tables. "
      "[The fact table](index.html#view=facts) has every fact, with the entries behind it.");
  for (const std::string& probe : probes_with_facts(to.document)) write_of_probe(to, probe);
}

void write_facts(Writing& to) {
  const std::size_t number = to.document.facts.size();
  if (number == 0) return;
  to.page.heading(2, "Facts", "facts");
  if (has_atlas(to.document)) {
    write_levels(to);
    to.page.paragraph(
        fmt::format("[The atlas]({}#facts) has the {} that the probes conclude of this GPU.",
                    atlas_file, counted(number, "fact", "facts")));
    return;
  }
  write_facts_by_probe(to);
}

}  // namespace fathom::reports
