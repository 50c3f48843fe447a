#include <fmt/format.h>

#include <set>
#include <vector>

#include "reports/columns.h"
#include "reports/facts.h"
#include "reports/roofline.h"
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

void write_view_table(Writing& to, const View& view, const EntryList& shown) {
  std::vector<Column> columns;
  for (const std::string& name : view.columns) columns.push_back(make_column(name, shown, view.levels));
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
        if (view.kind == View::Kind::roofline) {
          return draw_roofline(view, own, to.document.bounds, folder, unique_stem, to.document.source);
        }
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

/// What the picture shows as figures, and the roof above each.
void write_roofline_table(Writing& to, const View& view, const EntryList& shown) {
  std::vector<Table::Column> columns{{escape_text(capitalised(spaced(view.x)))}, {"Throughput", Align::right}};
  for (const MemoryLevel& level : view.memory) {
    columns.push_back({escape_text(level.name) + ": bytes moved", Align::right});
    columns.push_back({"FLOP per byte", Align::right});
  }
  columns.push_back({"Lowest roof"});
  columns.push_back({"Of it (%)", Align::right});
  Table table(std::move(columns));
  for (const RooflineRow& row : roofline_rows(view, shown, to.document.bounds)) {
    std::vector<std::string> cells{escape_text(row.name), quantity(row.flops_per_second, "FLOP/s")};
    for (const auto& use : row.levels) {
      // Decimal, as bandwidths are.
      const Scale scale = scale_for(use ? use->bytes : 0, "B/s");
      cells.push_back(!use ? "–"
                           : fmt::format("{} {}{}", format_number(use->bytes / scale.factor),
                                         scale.unit.substr(0, scale.unit.find('/')),
                                         use->counted ? "" : " (least)"));
      cells.push_back(use ? format_number(use->intensity) : "–");
    }
    cells.push_back(row.attainable ? fmt::format("{} by {}", quantity(row.attainable, "FLOP/s"), escape_text(row.bound_by)) : "–");
    cells.push_back(row.attainable ? fmt::format("{:.1f}", 100 * row.flops_per_second / *row.attainable) : "–");
    table.add_row(std::move(cells));
  }
  to.page.table(escape_text(view.title) + ", in figures", table, "", 0);
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
  const bool paged = has_page(to.document, probe);
  if (paged) {
    const std::string title = probe.page_title.empty() ? probe.page : probe.page_title;
    to.page.paragraph(fmt::format("Its pictures and tables are on a page of their own: [{}]({}).",
                                  escape_text(title), page_file(probe)));
  }
  for (std::size_t i = 0; i < probe.views.size(); ++i) {
    if (!paged || probe.views[i].section.empty()) write_view(to, probe, i);
  }
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
  switch (view.kind) {
    case View::Kind::table: return write_view_table(to, view, shown);
    case View::Kind::steps: return write_steps(to, view, shown);
    case View::Kind::plot:
    case View::Kind::heat_map: return write_plot(to, probe, index, shown);
    case View::Kind::roofline:
      write_plot(to, probe, index, shown);
      return write_roofline_table(to, view, shown);
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
