// A view of kind steps: entries as the rungs of a ladder, each with what it adds and what it
// gained.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/facts.h"
#include "reports/markdown.h"
#include "reports/sections.h"
#include "results/findings.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

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

}  // namespace

void write_steps(PageContext& to, const View& view, const EntryList& shown) {
  Table table({{escape_text(capitalised(spaced(view.x)))},
               {"What it adds, *and should gain*"},
               {"What it gained, and what the counters say"}});
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

}  // namespace fathom::reports
