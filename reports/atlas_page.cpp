// atlas.md: the memory hierarchy on one page, for a reader who has not seen the report.

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

/// A part of fewer facts than this shares a table with others, unless it is a level.
constexpr std::size_t facts_of_own_table = 3;

struct Part {
  std::string id;
  FactList facts;
};

bool is_level(const std::string& part) {
  return std::ranges::find(level_parts(), part) != level_parts().end();
}

/// Facts by their part: the hierarchy's levels first, nearest to the cores first, then the others
/// in the document's order.
std::vector<Part> parts_of(const Document& document) {
  std::vector<Part> parts;
  for (const char* level : level_parts()) parts.push_back({level, {}});
  for (const Fact& fact : document.facts) {
    const std::string id = part_of(fact);
    auto part = std::ranges::find(parts, id, &Part::id);
    if (part == parts.end()) part = parts.insert(part, {id, {}});
    part->facts.push_back(&fact);
  }
  std::erase_if(parts, [](const Part& part) { return part.facts.empty(); });
  return parts;
}

/// The level's figures, for readers who see no picture.
void write_levels(Writing& to) {
  Table table({{"Level"},
               {"Size", Align::right},
               {"Latency", Align::right},
               {"Latency in time", Align::right},
               {"Bandwidth", Align::right}});
  const auto cell = [](const LevelFigure& figure) {
    return figure.value ? escape_text(format_quantity(figure.value, figure.unit)) : "–";
  };
  for (const LevelRow& level : hierarchy(to.document)) {
    table.add_row({escape_text(level.name), cell(level.size), cell(level.latency),
                   level.latency.beside.empty() ? "–" : escape_text(level.latency.beside),
                   cell(level.bandwidth)});
  }
  to.page.table("The levels, nearest to the cores first", table);
}

void write_overview(Writing& to) {
  for (const ProbeSummary& probe : to.document.probes) {
    for (std::size_t i = 0; i < probe.views.size(); ++i) {
      const View& view = probe.views[i];
      if (!view.overview) continue;
      to.page.heading(2, escape_text(view.title), slug(probe.name + "-" + view.title));
      write_view(to, probe, i);
      to.page.paragraph(fmt::format("From [{}](README.md#{}){}", escape_text(probe.name),
                                    probe_anchor(probe.name),
                                    probe.answer.empty() ? "." : ": " + escape_text(probe.answer)));
    }
  }
}

void write_part(Writing& to, const FactList& facts) {
  to.page.table(counted(facts.size(), "fact", "facts"), fact_table(facts));
  to.page.list(missing_facts(facts));
  if (const std::string text = evidence_of(facts); !text.empty()) {
    to.page.folded("Evidence: the counters and entries that each fact rests on", text);
  }
}

/// A level is called as the picture calls it; another part as its first fact does.
std::string title_of(const Document& document, const Part& part) {
  const std::string name = part.facts.front()->subject;
  const auto same_subject =
      std::ranges::all_of(part.facts, [&](const Fact* fact) { return fact->subject == name; });
  if (same_subject && !name.empty()) return escape_text(capitalised(name));
  const auto named = std::ranges::find(document.facts, part.id + ".latency", &Fact::id);
  return escape_text(capitalised(named != document.facts.end() ? named->subject : part.id));
}

void write_facts_by_part(Writing& to) {
  to.page.heading(2, "Facts", "facts");
  to.page.paragraph(
      "Each with its confidence interval, what physics allows, and, where others have stated the "
      "same quantity, their figure, its source and by how much this GPU deviates from it.");
  std::vector<Part> small;  // by probe
  for (const Part& part : parts_of(to.document)) {
    if (is_level(part.id) || part.facts.size() >= facts_of_own_table) {
      to.page.heading(3, title_of(to.document, part), "part-" + slug(part.id));
      write_part(to, part.facts);
      continue;
    }
    for (const Fact* fact : part.facts) {
      auto group = std::ranges::find(small, fact->probe, &Part::id);
      if (group == small.end()) group = small.insert(group, {fact->probe, {}});
      group->facts.push_back(fact);
    }
  }
  for (const Part& group : small) {
    to.page.heading(3, escape_text(capitalised(spaced(group.id))), "facts-" + slug(group.id));
    write_part(to, group.facts);
  }
}

/// Facts that a reader must know of before any other.
void write_state(Writing& to) {
  std::vector<std::string> items;
  for (const ProbeSummary& probe : to.document.probes) {
    if (probe.status == ProbeStatus::complete) continue;
    items.push_back(fmt::format("**{}** {}: {}.", escape_text(probe.name), words(probe.status),
                                reason_of(probe)));
  }
  for (const std::string& warning : to.document.warnings) {
    items.push_back("**Warning:** " + escape_text(warning));
  }
  if (!to.pictures.problem().empty()) items.push_back(escape_text(to.pictures.problem()));
  to.page.list(items);
}

}  // namespace

void write_atlas(Writing& to) {
  to.page.heading(1, "Atlas of the memory hierarchy: " + gpu_title(to.document), "top");
  write_origin(to);
  to.page.paragraph(
      "The [whole report](README.md) has the verdicts, every curve and how it was measured.");
  write_state(to);
  write_hierarchy(to);
  write_levels(to);
  to.page.contents_here();
  write_overview(to);
  write_facts_by_part(to);
}

}  // namespace fathom::reports
