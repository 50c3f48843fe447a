#include <fmt/format.h>

#include <algorithm>

#include "reports/facts.h"
#include "reports/facts_table.h"
#include "reports/hierarchy.h"
#include "reports/sections.h"

namespace fathom::reports {
namespace {

void write_of_probe(Writing& to, const std::string& probe, const FactList& facts) {
  to.page.table(fmt::format("{}: {}", escape_text(probe), counted(facts.size(), "fact", "facts")),
                fact_table(facts), "", facts.size());  // never folded: they are what was asked for
  to.page.list(missing_facts(facts));
  if (const std::string text = evidence_of(facts); !text.empty()) {
    to.page.folded("Evidence: the counters and entries that each fact rests on", text);
  }
}

}  // namespace

void write_hierarchy(Writing& to) {
  if (!has_atlas(to.document) || !to.pictures.problem().empty()) return;
  to.show("hierarchy", "hierarchy", [&](const auto& folder, const std::string& stem) {
    return draw_hierarchy(hierarchy(to.document), folder, stem, to.document.source);
  });
}

void write_facts(Writing& to) {
  const std::vector<Fact>& facts = to.document.facts;
  if (facts.empty()) return;
  to.page.heading(2, "Facts", "facts");
  to.page.paragraph(
      "What the probes conclude of this GPU, each with its confidence interval and, where others "
      "have stated the same quantity, their figure and its source.");
  write_hierarchy(to);
  std::vector<std::string> probes;
  for (const Fact& fact : facts) {
    if (std::find(probes.begin(), probes.end(), fact.probe) == probes.end()) {
      probes.push_back(fact.probe);
    }
  }
  for (const std::string& probe : probes) {
    FactList own;
    for (const Fact& fact : facts) {
      if (fact.probe == probe) own.push_back(&fact);
    }
    write_of_probe(to, probe, own);
  }
}

}  // namespace fathom::reports
