#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "reports/sections.h"
#include "results/findings.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

// A view of kind steps: entries as the rungs of a ladder, each with what it adds and gained.

/// A counter that changed by less, as a factor, explains nothing.
constexpr double least_change = 1.25;
constexpr std::size_t most_changes = 2;

/// What a counter must reach on one side, by its unit, for a change of it to matter.
double least_figure(const std::string& unit) {
  if (unit == "warps per issue") return 0.25;
  if (unit == "%") return 5;
  if (unit == "issues per cycle") return 0.05;
  return 0;
}

/// Counts are long: "51.1 G"; percentages and bytes have their unit, and ratios need none.
std::string short_figure(double value, const std::string& unit) {
  if (unit == "%" || unit == "B") return format_quantity(value, unit);
  for (const auto& [factor, prefix] : {std::pair{1e9, " G"}, {1e6, " M"}, {1e3, " k"}}) {
    if (value >= 10 * factor) return format_number(value / factor) + prefix;
  }
  return format_number(value);
}

/// A counter or a further figure, by its column.
struct StepFigure {
  std::string name, unit;
  double value = 0;
};

/// Nothing where the entry lacks it, or where it cannot be told.
std::optional<StepFigure> step_figure(const Entry& entry, const std::string& column) {
  StepFigure figure{column.substr(column.find(':') + 1), "", NAN};
  if (const Counter* counter = find_counter(entry, figure.name); counter && counter->value) {
    figure.unit = counter->unit;
    figure.value = *counter->value;
  } else if (const auto extra = entry.extras.find(figure.name); extra != entry.extras.end()) {
    figure.value = extra->second;
  }
  return std::isfinite(figure.value) && figure.value >= 0 ? std::optional(figure) : std::nullopt;
}

/// A column and what a figure of it must reach to matter: of next to nothing a large factor is next
/// to nothing, such as stalls of a hundredth of a warp, or a thousand conflicts where another step
/// has a billion.
using Watched = std::vector<std::pair<std::string, double>>;

Watched watched_columns(const View& view, const EntryList& shown) {
  constexpr double share_of_largest = 0.01;
  Watched watched;
  for (const std::string& column : view.columns) {
    double least = 0;
    for (const Entry* entry : shown)
      if (const auto figure = step_figure(*entry, column))
        least = std::max({least, share_of_largest * figure->value, least_figure(figure->unit)});
    watched.emplace_back(column, least);
  }
  return watched;
}

/// What changed most, strongest first, as plain text.
std::string changes(const Watched& watched, const Entry& before, const Entry& after) {
  std::vector<std::pair<double, std::string>> found;  // with its factor
  for (const auto& [column, least] : watched) {
    const auto old_figure = step_figure(before, column), new_figure = step_figure(after, column);
    if (!old_figure || !new_figure) continue;
    const auto [low, high] = std::minmax(old_figure->value, new_figure->value);
    const double factor = low > 0 ? high / low : high > 0 ? INFINITY : 1;
    if (factor < least_change || high < least) continue;
    found.emplace_back(factor, fmt::format("{} {} → {}", spaced(new_figure->name),
                                           short_figure(old_figure->value, new_figure->unit),
                                           short_figure(new_figure->value, new_figure->unit)));
  }
  std::ranges::stable_sort(found, std::greater<>{}, [](const auto& one) { return one.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most_changes, found.size()); ++i)
    text += (i == 0 ? "" : "; ") + found[i].second;
  return text;
}

std::string gained(const Watched& watched, const Entry* before, const std::string& than,
                   const Entry& entry) {
  const auto& value = entry.metric.value;
  if (!value) return "nothing measured: " + words(entry.verdict.status);
  const std::string figure =
      fmt::format("**{}**{}", escape_text(format_quantity(*value, entry.metric.unit)),
                  entry.verdict.status == VerdictStatus::noisy ? " ~" : "");
  if (before == nullptr || before->metric.unit != entry.metric.unit || !(*before->metric.value > 0))
    return figure;
  const double ratio = entry.metric.better == Better::higher ? *value / *before->metric.value
                                                             : *before->metric.value / *value;
  const auto &of_old = before->interval, &of_new = entry.interval;
  std::string reach;
  if (is_confident(of_old) && is_confident(of_new) && of_old->low > 0 && of_new->low > 0) {
    const bool higher = entry.metric.better == Better::higher;
    reach = reach_of(
        ratio, higher ? ratio_interval(*of_new, *of_old) : ratio_interval(*of_old, *of_new), 1);
  }
  const std::string text = fmt::format("{}, **{:.2f} ×** {}{}", figure, ratio, than, reach);
  const std::string counted = changes(watched, *before, entry);
  return counted.empty() ? text : text + "<br>" + escape_text(counted);
}

std::string note(const Entry& entry, const std::string& name) {
  const std::string text = note_of(entry, name);
  return text.empty() ? "–" : escape_text(text);
}

/// The step that an entry says it builds on; null where it says none, or that was not measured.
const Entry* parent_of(const View& view, const EntryList& shown, const Entry& entry) {
  const std::string parent = note_of(entry, "parent");
  const auto found = std::ranges::find_if(shown, [&](const Entry* other) {
    const AxisValue* name = find_axis(*other, view.x);
    return name != nullptr && format_axis_value(view.x, *name) == parent;
  });
  return parent.empty() || found == shown.end() || !(*found)->metric.value ? nullptr : *found;
}

void write_steps(PageContext& to, const View& view, const EntryList& shown) {
  Table table({escape_text(capitalised(spaced(view.x))), "What it adds, *and should gain*",
               "What it gained, and what the counters say"});
  const Watched watched = watched_columns(view, shown);
  const Entry* before = nullptr;
  for (const Entry* entry : shown) {
    const AxisValue* name = find_axis(*entry, view.x);
    if (name == nullptr) continue;
    const Entry* parent = parent_of(view, shown, *entry);
    const std::string than = parent == nullptr ? "the one before" : note(*entry, "parent");
    const std::string gain = note(*entry, "gain");
    table.add_row({escape_text(format_axis_value(view.x, *name)),
                   note(*entry, "idea") + (gain == "–" ? "" : "<br>*" + gain + "*"),
                   gained(watched,
                          parent != nullptr                     ? parent
                          : note_of(*entry, "parent") == "none" ? nullptr
                                                                : before,
                          than, *entry)});
    if (entry->metric.value) before = entry;
  }
  // Never folded: it is the way up.
  to.page.table(escape_text(view.title), table, "", table.rows());
  if (!view.note.empty()) to.page.paragraph(escape_text(view.note));
  to.page.paragraph("± is how far a gain may be off, by the ends of both rungs' intervals.");
}

// A view of kind table.

/// What the HTML page alone shows, and what goes next where a table is too wide for a page.
/// Libraries have long names.
const std::set<std::string> only_in_html{"interval", "bound",       "expected",
                                         "sm_clock", "power",       "throttle_reasons",
                                         "verdict",  "note:kernel", "extra:joules_half_width"};
constexpr std::size_t most_columns = 8, most_with_libraries = 7;
constexpr const char* dispensable[] = {"of_bound_at_clock", "time", "of_bound", "layout", "k"};
/// With others' work: what people quote.
bool compares(const View& view) {
  return std::ranges::any_of(view.columns,
                             [](const auto& name) { return name.starts_with("ratio:"); });
}

void write_view_table(PageContext& to, const View& view, const EntryList& shown) {
  std::vector<std::string> names = view.columns;
  const bool libraries = compares(view);
  std::erase_if(names, [&](const std::string& name) {
    return only_in_html.contains(name) || (libraries && name.starts_with("counter:"));
  });
  std::string constant;
  const auto made = [&] {
    std::vector<Column> columns;
    for (const std::string& name : names) columns.push_back(make_column(name, shown, view.levels));
    constant.clear();
    return make_table(columns, constant);
  };
  Table table = made();
  const std::size_t wanted = libraries ? most_with_libraries : most_columns;
  for (const char* name : dispensable)
    if (table.columns() > wanted && std::erase(names, name) > 0) table = made();
  if (!to.page.table(escape_text(view.title), table, constant,
                     table.columns() <= most_columns ? Page::most_shown : 0))
    return;
  if (!view.note.empty()) to.page.paragraph(escape_text(view.note));
}

void write_failures(PageContext& to, const EntryList& entries) {
  Table table({"Entry", "Verdict", "Why"});
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

/// Why a probe is not complete, to end a sentence with (Markdown, no full stop).
std::string reason_of(const ProbeSummary& probe) {
  if (probe.status_reason.empty()) return "no reason is given";
  return escape_text(without_full_stop(probe.status_reason));
}

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

/// To each of the probe's pages but that of `own`, which may be none.
std::string links_to_pages(const Document& document, const ProbeSummary& probe,
                           const std::string& own = "") {
  std::vector<std::string> links;
  for (const std::string& section : pages_of(document, probe))
    if (section != own)
      links.push_back(fmt::format("[{}]({})", escape_text(section), page_file(probe, section)));
  return fmt::format("{}", fmt::join(links, ", "));
}

void write_probe(PageContext& to, const ProbeSummary& probe) {
  to.page.heading(3, escape_text(probe.name), probe_anchor(probe.name));
  if (!probe.question.empty()) to.page.paragraph("*" + escape_text(probe.question) + "*");
  if (probe.status != ProbeStatus::complete) {
    to.page.paragraph(
        fmt::format("This probe is not complete ({}): {}.", words(probe.status), reason_of(probe)));
  }
  const EntryList entries = entries_of(to.document, probe.name);
  if (entries.empty()) {
    to.page.paragraph("It left no entries.");
    return;
  }
  const std::string pages = links_to_pages(to.document, probe);
  if (!pages.empty()) to.page.paragraph(fmt::format("A page each: {}.", pages));
  write_views(to, probe, "", false);
  if (pages.empty())  // a section without a page of its own stands here
    for (const std::string& section : view_sections(probe)) write_views(to, probe, section, false);
  write_failures(to, entries);
}

}  // namespace

std::string explore_probe(const std::string& probe, const std::string& section) {
  return "view=probes&probe=" + url_encoded(probe) +
         (section.empty() ? "" : "&section=" + url_encoded(section));
}

std::string entry_link(const Entry& entry, const std::string& text) {
  return explore_link(text, "view=entry&name=" + url_encoded(entry.name));
}

void write_views(PageContext& to, const ProbeSummary& probe, const std::string& section,
                 bool whole) {
  const std::string state = explore_probe(probe.name, section);
  to.page.explore(state);
  const auto here = [&](const View& view) {
    return view.kind == View::Kind::steps ||
           (view.kind == View::Kind::table && (whole || compares(view)));
  };
  std::string elsewhere;
  for (const View& view : probe.views)
    if (view.section == section && !here(view))
      elsewhere += (elsewhere.empty() ? "" : "; ") + escape_text(view.title);
  if (!elsewhere.empty())
    to.page.paragraph(fmt::format("{}: {}.", explore_link("In the HTML page", state), elsewhere));
  for (const View& view : probe.views) {
    if (view.section != section || !here(view)) continue;
    const EntryList shown = shown_by(view, entries_of(to.document, probe.name));
    if (shown.empty())
      to.page.paragraph(
          fmt::format("*{}: no entry was measured for it.*", escape_text(view.title)));
    else if (view.kind == View::Kind::table)
      write_view_table(to, view, shown);
    else
      write_steps(to, view, shown);
  }
}

void add_state(const PageContext& to, const ProbeSummary* only, std::vector<std::string>& items) {
  for (const ProbeSummary& probe : to.document.probes)
    if (probe.status != ProbeStatus::complete && (only == nullptr || only->name == probe.name))
      items.push_back(fmt::format("**{}** {}: {}.", escape_text(probe.name), words(probe.status),
                                  reason_of(probe)));
  for (const std::string& warning : to.document.warnings)
    items.push_back("**Warning:** " + escape_text(warning));
  for (const std::string& note : to.document.notes)
    items.push_back("**Note:** " + escape_text(note));
}

void add_failures(const VerdictTally& verdicts, const std::string& anchor,
                  std::vector<std::string>& items) {
  if (const std::size_t failures = verdicts.failures(); failures > 0)
    items.push_back(fmt::format("**{} failed a check** ([which](README.md#{})).",
                                counted(failures, "entry", "entries"), anchor));
}

std::string probe_anchor(const std::string& probe) { return "probe-" + slug(probe); }

void write_probes(PageContext& to) {
  to.page.heading(2, "Probes", "probes");
  const auto probes = probes_of(to.document);
  for (const ProbeSummary& probe : probes) write_probe(to, probe);
  if (probes.empty()) to.page.paragraph("The document has no probe.");
}

std::vector<std::string> pages_of(const Document& document, const ProbeSummary& probe) {
  if (probe.page.empty() || entries_of(document, probe.name).empty()) return {};
  return view_sections(probe);
}

std::string page_file(const ProbeSummary& probe, const std::string& section) {
  return slug(probe.page) + "-" + slug(section) + ".md";
}

/// For a reader who has not seen the report.
void write_probe_page(PageContext& to, const ProbeSummary& probe, const std::string& section) {
  const std::string title = probe.page_title.empty() ? probe.page : probe.page_title;
  to.page.heading(
      1,
      fmt::format("{}, {}: {}", escape_text(title), escape_text(section), gpu_title(to.document)),
      "top");
  write_origin(to);
  const std::string others = links_to_pages(to.document, probe, section);
  std::vector<std::string> state;
  add_failures(VerdictTally(entries_of(to.document, probe.name)), probe_anchor(probe.name), state);
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
