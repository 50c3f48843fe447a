#include <fmt/format.h>

#include <algorithm>

#include "reports/columns.h"
#include "reports/facts.h"
#include "reports/sections.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

void write_view_table(Writing& to, const View& view, const EntryList& shown) {
  std::vector<Column> columns;
  for (const std::string& name : view.columns) columns.push_back(make_column(name, shown));
  std::string constant;
  const Table table = make_table(columns, constant);
  to.page.table(escape_text(view.title) + (constant.empty() ? "" : " · " + constant), table);
  if (!view.note.empty()) to.page.paragraph(escape_text(view.note));
}

void write_plot(Writing& to, const ProbeSummary& probe, const View& view,
                std::span<const Entry> entries) {
  if (!to.gnuplot_problem.empty()) return;  // said once, at the top
  const std::string stem = to.stem(slug(probe.name) + "-" + slug(view.title));
  if (!to.show(draw_plot(view, entries, to.folder, stem, to.document.source))) {
    to.page.paragraph(fmt::format("*{}: there is nothing to draw.*", escape_text(view.title)));
    return;
  }
  if (!view.note.empty()) to.page.paragraph(escape_text(view.note));
}

void write_view(Writing& to, const ProbeSummary& probe, const View& view,
                std::span<const Entry> entries) {
  EntryList all;
  for (const Entry& entry : entries) all.push_back(&entry);
  const EntryList shown = shown_by(view, all);
  if (shown.empty()) {
    to.page.paragraph(fmt::format("*{}: no entry was measured for it.*", escape_text(view.title)));
    return;
  }
  if (view.kind == View::Kind::table) {
    write_view_table(to, view, shown);
  } else {
    write_plot(to, probe, view, entries);
  }
}

void write_not_ok(Writing& to, const EntryList& entries) {
  Table table({{"Entry"}, {"Verdict"}, {"Measured", Align::right}, {"Expected", Align::right}, {"Why"}});
  for (const VerdictStatus status : all_verdicts()) {
    if (status == VerdictStatus::ok) continue;
    for (const Entry* entry : entries) {
      if (entry->verdict.status != status) continue;
      std::string why;
      for (const std::string& reason : entry->verdict.reasons) {
        why += (why.empty() ? "" : "<br>") + escape_text(reason);
      }
      const std::string& unit = entry->metric.unit;
      table.add_row({code(entry->name), words(status),
                     escape_text(format_quantity(entry->metric.value, unit)),
                     entry->expected ? escape_text(format_quantity(entry->expected->value, unit)) : "–",
                     why.empty() ? "no reason is given" : why});
    }
  }
  to.page.table("Entries that are not ok", table);
}

void write_probe(Writing& to, const ProbeSummary& probe) {
  to.page.heading(3, escape_text(probe.name), probe_anchor(probe.name));
  if (!probe.question.empty()) to.page.paragraph("*" + escape_text(probe.question) + "*");
  if (!probe.answer.empty()) to.page.paragraph("**" + escape_text(probe.answer) + "**");
  if (probe.status != ProbeStatus::complete) {
    to.page.paragraph(fmt::format("This probe is {}: {}.", words(probe.status),
                                  escape_text(probe.status_reason.empty() ? "no reason is given"
                                                                          : probe.status_reason)));
  }
  const EntryList entries = entries_of(to.document, probe.name);
  if (entries.empty()) {
    to.page.paragraph("It left no entry.");
    return;
  }
  std::vector<Entry> own;  // what draws wants them side by side
  own.reserve(entries.size());
  for (const Entry* entry : entries) own.push_back(*entry);
  for (const View& view : probe.views) write_view(to, probe, view, own);
  write_not_ok(to, entries);
}

}  // namespace

std::string probe_anchor(const std::string& probe) { return "probe-" + slug(probe); }

void write_probes(Writing& to) {
  to.page.heading(2, "Probes", "probes");
  const auto probes = probes_of(to.document);
  for (const ProbeSummary& probe : probes) write_probe(to, probe);
  if (probes.empty()) to.page.paragraph("The document has no probe.");
}

}  // namespace fathom::reports
