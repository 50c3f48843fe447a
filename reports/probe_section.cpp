#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "reports/columns.h"
#include "reports/facts.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::reports {
namespace {

/// Why cells of the view's counters are empty, each reason once.
std::vector<std::string> missing_counters(const View& view, const EntryList& shown) {
  const std::string prefix = "counter:";
  std::vector<std::string> notes;
  for (const std::string& column : view.columns) {
    if (!column.starts_with(prefix)) continue;
    const std::string role = column.substr(prefix.size());
    std::set<std::string> reasons;
    for (const Entry* entry : shown) {
      const Counter* counter = find_counter(*entry, role);
      if (counter && !counter->value && !counter->reason.empty()) reasons.insert(counter->reason);
    }
    for (const std::string& reason : reasons) {
      notes.push_back(fmt::format("{} is missing: {}.", capitalised(escape_text(spaced(role))),
                                  escape_text(without_full_stop(reason))));
    }
  }
  return notes;
}

/// A wider table does not fit a page. These columns go first; the HTML page has them all.
constexpr std::size_t most_columns = 8;
constexpr const char* dispensable[] = {"power",    "throttle_reasons",
                                       "sm_clock", "of_bound_at_clock",
                                       "verdict",  "extra:joules_half_width",
                                       "interval", "time",
                                       "bound",    "expected",
                                       "of_bound", "layout",
                                       "k"};
/// Comparisons are what people quote.
constexpr std::size_t most_compared = 60;

void write_view_table(Writing& to, const View& view, const EntryList& shown) {
  std::vector<std::string> names = view.columns;
  std::erase(names, "note:kernel");  // as wide as a page
  const bool compares =
      std::ranges::any_of(names, [](const auto& name) { return name.starts_with("ratio:"); });
  std::string constant;
  const auto made = [&] {
    std::vector<Column> columns;
    for (const std::string& name : names) columns.push_back(make_column(name, shown, view.levels));
    constant.clear();
    return make_table(columns, constant);
  };
  Table table = made();
  for (const char* name : dispensable)
    if (table.columns() > most_columns && std::erase(names, name) > 0) table = made();
  const bool fits = table.columns() <= most_columns;
  to.page.table(escape_text(view.title), table, constant,
                !fits      ? 0
                : compares ? most_compared
                           : Page::most_shown);
  to.page.list(missing_counters(view, shown));
  if (!view.note.empty()) to.page.paragraph(escape_text(view.note));
}

/// How many entries are not ok, and where they are listed with the reasons.
void write_not_ok(Writing& to, const std::string& probe, const EntryList& entries) {
  const VerdictTally verdicts = tally(entries);
  if (verdicts.of(VerdictStatus::ok) == verdicts.all()) return;
  to.page.paragraph(fmt::format("Not ok: {} of {} ({}).", verdicts.text(false),
                                counted(verdicts.all(), "entry", "entries"),
                                explore_link("which, and why", explore_probe(probe))));
  Table table({{"Entry"}, {"Verdict"}, {"Why"}});
  for (const Entry* entry : entries) {
    if (!is_failure(entry->verdict.status)) continue;
    std::string why;
    for (const std::string& reason : entry->verdict.reasons)
      why += (why.empty() ? "" : "<br>") + escape_text(reason);
    table.add_row({entry_link(*entry, code(entry->name)), words(entry->verdict.status),
                   why.empty() ? "no reason is given" : why});
  }
  to.page.table("Entries that failed a check", table);
}

void write_probe(Writing& to, const ProbeSummary& probe) {
  to.page.heading(3, escape_text(probe.name), probe_anchor(probe.name));
  if (!probe.question.empty()) to.page.paragraph("*" + escape_text(probe.question) + "*");
  if (!probe.answer.empty()) to.page.paragraph("**" + escape_text(probe.answer) + "**");
  if (probe.status != ProbeStatus::complete) {
    to.page.paragraph(
        fmt::format("This probe is not complete ({}): {}.", words(probe.status), reason_of(probe)));
  }
  const EntryList entries = entries_of(to.document, probe.name);
  if (entries.empty()) {
    to.page.paragraph("It left no entries.");
    return;
  }
  const std::vector<std::string> pages = pages_of(to.document, probe);
  if (!pages.empty()) {
    std::string links;
    for (const std::string& section : pages)
      links += fmt::format("{}[{}]({})", links.empty() ? "" : ", ", escape_text(section),
                           page_file(probe, section));
    to.page.paragraph(fmt::format("A page each: {}.", links));
  }
  write_views(to, probe, "");
  if (pages.empty())  // a section without a page of its own stands here
    for (const std::string& section : view_sections(probe)) write_views(to, probe, section);
  write_not_ok(to, probe.name, entries);
}

}  // namespace

std::string explore_probe(const std::string& probe, const std::string& section) {
  return "view=probes&probe=" + url_encoded(probe) +
         (section.empty() ? "" : "&section=" + url_encoded(section));
}

std::string entry_link(const Entry& entry, const std::string& text) {
  return explore_link(text, "view=entry&name=" + url_encoded(entry.name));
}

void write_views(Writing& to, const ProbeSummary& probe, const std::string& section) {
  const std::string state = explore_probe(probe.name, section);
  to.page.explore(state);
  std::string curves;
  for (const View& view : probe.views)
    if (view.section == section && view.kind != View::Kind::table && view.kind != View::Kind::steps)
      curves += (curves.empty() ? "" : ", ") + explore_link(escape_text(view.title), state);
  if (!curves.empty()) to.page.paragraph("Curves: " + curves + ".");
  for (const View& view : probe.views) {
    if (view.section != section) continue;
    const EntryList shown = shown_by(view, entries_of(to.document, probe.name));
    if (shown.empty())
      to.page.paragraph(
          fmt::format("*{}: no entry was measured for it.*", escape_text(view.title)));
    else if (view.kind == View::Kind::table)
      write_view_table(to, view, shown);
    else if (view.kind == View::Kind::steps)
      write_steps(to, view, shown);
  }
}

std::string reason_of(const ProbeSummary& probe) {
  if (probe.status_reason.empty()) return "no reason is given";
  return escape_text(without_full_stop(probe.status_reason));
}

std::string probe_anchor(const std::string& probe) { return "probe-" + slug(probe); }

void write_probes(Writing& to) {
  to.page.heading(2, "Probes", "probes");
  const auto probes = probes_of(to.document);
  for (const ProbeSummary& probe : probes) write_probe(to, probe);
  if (probes.empty()) to.page.paragraph("The document has no probe.");
}

}  // namespace fathom::reports
