#include <fmt/format.h>

#include <algorithm>

#include "reports/facts.h"
#include "reports/facts_table.h"
#include "reports/hierarchy.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

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

/// What people quote: the memory's levels, and what others have published too; of a probe without
/// either its first few. What cannot be is never left out.
FactList quoted(const Document& document, const FactList& facts) {
  FactList found;
  std::ranges::copy_if(facts, std::back_inserter(found), [&](const Fact* fact) {
    return fact->value && (fact->published || share_of_bound(*fact).value_or(0) > 1 ||
                           is_of_a_level(document, *fact));
  });
  constexpr std::size_t few = 12;
  if (found.empty()) {
    std::ranges::copy_if(facts, std::back_inserter(found),
                         [](const Fact* fact) { return fact->value.has_value(); });
    found.resize(std::min(found.size(), few));
  }
  return found;
}

void write_of_probe(PageContext& to, const std::string& probe) {
  const FactList all = facts_of(to.document, probe), shown = quoted(to.document, all);
  const std::string state = "view=facts&q=" + url_encoded(probe);
  to.page.heading(3, escape_text(capitalised(spaced(probe))), "facts-" + slug(probe));
  constexpr std::size_t most_shown = 40;
  if (shown.size() <= most_shown) {
    Notes notes(to.document);
    to.page.table(share_text(shown.size(), all.size(), "fact", "facts"), fact_table(shown, notes),
                  "", most_shown);
    if (const auto sources = notes.list(); !sources.empty())
      to.page.paragraph(fmt::format("{}", fmt::join(sources, "<br>\n")));
  }
  if (shown.size() < all.size() || shown.size() > most_shown)
    to.page.paragraph(
        explore_link(fmt::format("All {}", counted(all.size(), "fact", "facts")), state) + ".");
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

void write_facts_by_probe(PageContext& to) {
  to.page.paragraph(
      "The memory's levels, and what others have published too. ± is how far the confidence "
      "interval of the median reaches from the value, mostly of 95 %. A bound is what physics or "
      "the architecture allows. Published is what others found, and by how much this GPU is off "
      "that; numbers in brackets lead to the sources under the tables. [The fact "
      "table](index.html#view=facts) has every fact, its method and the entries behind it, and why "
      "some are missing.");
  for (const std::string& probe : probes_with_facts(to.document)) write_of_probe(to, probe);
}

void write_facts(PageContext& to) {
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
