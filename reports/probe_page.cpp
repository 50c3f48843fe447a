// A probe's page of its own: the views that name a section, for a reader who has not seen the report.

#include <fmt/format.h>

#include <algorithm>

#include "reports/facts.h"
#include "reports/sections.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

/// In the views' order.
std::vector<std::string> sections_of(const ProbeSummary& probe) {
  std::vector<std::string> sections;
  for (const View& view : probe.views) {
    if (view.section.empty()) continue;
    if (std::ranges::find(sections, view.section) == sections.end()) sections.push_back(view.section);
  }
  return sections;
}

/// What a reader must know before any figure.
void write_state(Writing& to, const ProbeSummary& probe) {
  std::vector<std::string> items;
  if (probe.status != ProbeStatus::complete) {
    items.push_back(fmt::format("**Not complete** ({}): {}.", words(probe.status), reason_of(probe)));
  }
  if (const std::size_t failures = tally(entries_of(to.document, probe.name)).failures(); failures > 0) {
    items.push_back(fmt::format("**{} failed a check** ([which](README.md#{})).",
                                counted(failures, "entry", "entries"), probe_anchor(probe.name)));
  }
  for (const std::string& warning : to.document.warnings) items.push_back("**Warning:** " + escape_text(warning));
  for (const std::string& note : to.document.notes) items.push_back("**Note:** " + escape_text(note));
  if (!to.pictures.problem().empty()) items.push_back(escape_text(to.pictures.problem()));
  to.page.list(items);
}

/// What opponents ran, where they say so: a row for each of their ways, with the entries that met it.
void write_opponents_of(Writing& to, const EntryList& entries) {
  std::vector<std::string> names;
  for (const Entry* entry : entries) {
    for (const Opponent& opponent : entry->opponents) {
      for (const auto& [name, text] : opponent.notes) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
  }
  if (names.empty()) return;
  std::vector<Table::Column> columns{{"Beside"}, {"Opponent"}};
  for (const std::string& name : names) columns.push_back({escape_text(name)});
  Table table(std::move(columns));
  for (const Entry* entry : entries) {
    for (const Opponent& opponent : entry->opponents) {
      std::vector<std::string> cells{code(entry->name), escape_text(opponent.name)};
      for (const std::string& name : names) {
        const auto found = opponent.notes.find(name);
        cells.push_back(found == opponent.notes.end() ? "–" : escape_text(found->second));
      }
      table.add_row(std::move(cells));
    }
  }
  to.page.heading(2, "What the opponents ran", "opponents");
  to.page.table("By entry", table, "", 0);
}

}  // namespace

bool has_page(const Document& document, const ProbeSummary& probe) {
  return !probe.page.empty() && !sections_of(probe).empty() && !entries_of(document, probe.name).empty();
}

std::string page_file(const ProbeSummary& probe) {
  const std::string name = slug(probe.page);
  // Names that the report has for itself.
  return (name == "atlas" || name == "readme" ? slug(probe.name) + "-" : "") + name + ".md";
}

void write_probe_page(Writing& to, const ProbeSummary& probe) {
  const std::string title = probe.page_title.empty() ? probe.page : probe.page_title;
  to.page.heading(1, escape_text(title) + ": " + gpu_title(to.document), "top");
  write_origin(to);
  to.page.paragraph("*" + escape_text(probe.question) + "*");
  if (!probe.answer.empty()) to.page.paragraph("**" + escape_text(probe.answer) + "**");
  write_state(to, probe);
  to.page.paragraph("The [whole report](README.md) has the verdicts, and how sure each figure is.");
  to.page.contents_here();
  for (const std::string& section : sections_of(probe)) {
    to.page.heading(2, escape_text(section), slug(section));
    for (std::size_t i = 0; i < probe.views.size(); ++i) {
      if (probe.views[i].section == section) write_view(to, probe, i);
    }
  }
  write_opponents_of(to, entries_of(to.document, probe.name));
  std::vector<const Claim*> claims;
  for (const Claim& claim : to.document.claims) {
    if (claim.probe == probe.name) claims.push_back(&claim);
  }
  if (!claims.empty()) {
    to.page.heading(2, "Claims", "claims");
    write_claims_table(to, claims);
  }
  to.page.heading(2, "How it was measured", "method");
  to.page.paragraph(escape_text(probe.method));
}

}  // namespace fathom::reports
