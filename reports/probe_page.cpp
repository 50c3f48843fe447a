// A page of a section of a probe's views, such as one type of the ladder, for a reader who has not
// seen the report.

#include <fmt/format.h>

#include <algorithm>

#include "reports/facts.h"
#include "reports/sections.h"
#include "results/findings.h"

namespace fathom::reports {

/// In the views' order.
std::vector<std::string> view_sections(const ProbeSummary& probe) {
  std::vector<std::string> sections;
  for (const View& view : probe.views) {
    if (view.section.empty()) continue;
    if (std::ranges::find(sections, view.section) == sections.end())
      sections.push_back(view.section);
  }
  return sections;
}

std::vector<std::string> pages_of(const Document& document, const ProbeSummary& probe) {
  if (probe.page.empty() || entries_of(document, probe.name).empty()) return {};
  return view_sections(probe);
}

std::string page_file(const ProbeSummary& probe, const std::string& section) {
  return slug(probe.page) + "-" + slug(section) + ".md";
}

void write_probe_page(PageContext& to, const ProbeSummary& probe, const std::string& section) {
  const std::string title = probe.page_title.empty() ? probe.page : probe.page_title;
  to.page.heading(
      1,
      fmt::format("{}, {}: {}", escape_text(title), escape_text(section), gpu_title(to.document)),
      "top");
  write_origin(to);
  std::string others;
  for (const std::string& other : pages_of(to.document, probe))
    if (other != section)
      others += fmt::format("{}[{}]({})", others.empty() ? "" : ", ", escape_text(other),
                            page_file(probe, other));
  std::vector<std::string> state;
  add_failures(tally(entries_of(to.document, probe.name)), probe_anchor(probe.name), state);
  add_state(to, &probe, state);
  EntryList shown = entries_of(to.document, probe.name);
  std::erase_if(shown, [&](const Entry* entry) {
    return std::ranges::none_of(probe.views, [&](const View& view) {
      return view.section == section && matches(*entry, view);
    });
  });
  if (const std::string counters = counters_sentence(shown); !counters.empty())
    state.push_back(counters);
  to.page.list(state);
  to.page.paragraph(fmt::format(
      "{}The [whole report](README.md) has the verdicts, the claims and how it was measured.",
      others.empty() ? "" : "Also: " + others + ". "));
  write_views(to, probe, section, true);
}

}  // namespace fathom::reports
