// atlas.md: the memory hierarchy on one page, for a reader who has not seen the report.

#include <fmt/format.h>

#include <algorithm>

#include "reports/facts.h"
#include "reports/hierarchy.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

/// As the facts are ordered; probes without facts last.
std::vector<const ProbeSummary*> in_order(const Document& document) {
  const std::vector<std::string> names = probes_with_facts(document);
  std::vector<const ProbeSummary*> probes;
  for (const ProbeSummary& probe : document.probes) probes.push_back(&probe);
  std::ranges::stable_sort(probes, {}, [&](const ProbeSummary* probe) {
    return std::ranges::find(names, probe->name) - names.begin();
  });
  return probes;
}

std::string link_to(const ProbeSummary& probe) {
  return fmt::format("[{}](README.md#{})", escape_text(probe.name), probe_anchor(probe.name));
}

void write_atlas_answers(PageContext& to) {
  to.page.heading(2, "In short", "answers");
  std::vector<std::string> items;
  for (const ProbeSummary* probe : in_order(to.document)) {
    if (probe->answer.empty()) continue;
    items.push_back(fmt::format("{}: {}", link_to(*probe), escape_text(probe->answer)));
  }
  to.page.list(items);
}

void write_overview(PageContext& to) {
  to.page.heading(2, "Curves", "curves");
  std::vector<std::string> items{
      explore_link("Latency, from L1 to another GPU, on one axis", "view=latency"),
      explore_link("Bandwidth by working set, SMs and bytes in flight", "view=bandwidth")};
  for (const ProbeSummary* probe : in_order(to.document))
    for (const View& view : probe->views)
      if (view.overview)
        items.push_back(explore_link(escape_text(view.title), explore_probe(probe->name)));
  to.page.list(items);
}

}  // namespace

void write_levels(PageContext& to) {
  if (!has_atlas(to.document)) return;
  Table table({{"Level"},
               {"Size", Align::right},
               {"Latency", Align::right},
               {"Bandwidth, all SMs", Align::right}});
  for (const LevelRow& level : hierarchy(to.document))
    table.add_row({level.name, level.size, level.latency, level.bandwidth});
  to.page.table("The levels, nearest to the cores first", table);
}

void write_atlas(PageContext& to) {
  to.page.heading(1, "Atlas of the memory hierarchy: " + gpu_title(to.document), "top");
  write_origin(to);
  to.page.paragraph(
      "What each level of the memory holds, how long a load from it takes and how much it moves. "
      "Cycles are of the SM clock; a bandwidth is of all SMs together, decimal (TB/s), a size "
      "binary (KiB). The [whole report](README.md) has the verdicts, every curve and how it was "
      "measured.");
  std::vector<std::string> state;
  add_failures(tally(to.document), "verdict", state);
  add_state(to, nullptr, state);
  to.page.list(state);
  write_levels(to);
  write_atlas_answers(to);
  write_overview(to);
  to.page.heading(2, "Facts", "facts");
  write_facts_by_probe(to);
}

}  // namespace fathom::reports
