#include <fmt/format.h>

#include <set>
#include <vector>

#include "reports/columns.h"
#include "reports/facts.h"
#include "reports/scale.h"
#include "reports/sections.h"
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

void write_view_table(Writing& to, const View& view, const EntryList& shown) {
  std::vector<Column> columns;
  for (const std::string& name : view.columns) columns.push_back(make_column(name, shown));
  std::string constant;
  const Table table = make_table(columns, constant);
  to.page.table(escape_text(view.title), table, constant);
  to.page.list(missing_counters(view, shown));
  if (!view.note.empty()) to.page.paragraph(escape_text(view.note));
}

void write_plot(Writing& to, const ProbeSummary& probe, std::size_t index,
                const EntryList& entries) {
  if (!to.pictures.problem().empty()) return;  // said once, at the top
  const View& view = probe.views[index];
  const std::string key = fmt::format("{}/{}", probe.name, index);
  const std::string stem = slug(probe.name) + "-" + slug(view.title);
  const Picture* picture =
      to.show(key, stem, [&](const auto& folder, const std::string& unique_stem) {
        std::vector<Entry> own;  // what draws wants them side by side
        own.reserve(entries.size());
        for (const Entry* entry : entries) own.push_back(*entry);
        return draw_plot(view, own, folder, unique_stem, to.document.source);
      });
  if (picture == nullptr) {
    to.page.paragraph(fmt::format("*{}: there is nothing to draw.*", escape_text(view.title)));
    return;
  }
  for (const std::string& note : {view.note, picture->note}) {
    if (!note.empty()) to.page.paragraph(escape_text(note));
  }
}

void write_not_ok(Writing& to, const EntryList& entries) {
  Table table({{"Entry"}, {"Verdict"}, {"Why"}});
  for (const VerdictStatus status : all_verdicts()) {
    if (status == VerdictStatus::ok) continue;
    for (const Entry* entry : entries) {
      if (entry->verdict.status != status) continue;
      std::string why;
      for (const std::string& reason : entry->verdict.reasons) {
        why += (why.empty() ? "" : "<br>") + escape_text(reason);
      }
      table.add_row({code(entry->name), words(status), why.empty() ? "no reason is given" : why});
    }
  }
  constexpr std::size_t most_shown = 8;  // its rows are sentences
  to.page.table("Entries that are not ok", table, "", most_shown);
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
  for (std::size_t i = 0; i < probe.views.size(); ++i) write_view(to, probe, i);
  write_not_ok(to, entries);
}

}  // namespace

void write_view(Writing& to, const ProbeSummary& probe, std::size_t index) {
  const View& view = probe.views[index];
  const EntryList shown = shown_by(view, entries_of(to.document, probe.name));
  if (shown.empty()) {
    to.page.paragraph(fmt::format("*{}: no entry was measured for it.*", escape_text(view.title)));
    return;
  }
  if (view.kind == View::Kind::table) {
    write_view_table(to, view, shown);
  } else {
    write_plot(to, probe, index, shown);
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
