#include "reports/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "results/findings.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

const std::string nothing = "–";

/// "4.28" as "4.280": format_number leaves out zeros, which a column needs to line up.
std::string with_zeros(std::string text) {
  if (text.find_first_not_of("-0123456789.,") != std::string::npos) return text;
  const std::size_t first = text.find_first_of("123456789");
  if (first == std::string::npos) return text;  // 0 is exact
  const auto digits = [&] {
    return std::count_if(text.begin() + static_cast<std::ptrdiff_t>(first), text.end(),
                         [](char c) { return c >= '0' && c <= '9'; });
  };
  if (digits() < 4 && text.find('.') == std::string::npos) text += '.';
  while (digits() < 4) text += '0';
  return text;
}

/// For a column: the prefix that results/text.h gives to the median.
Scale scale_for(const std::vector<std::optional<double>>& values, const std::string& unit) {
  std::vector<double> sizes;
  for (const auto& value : values)
    if (value && std::isfinite(*value)) sizes.push_back(std::abs(*value));
  return prefixed_unit(median_or_none(sizes).value_or(0), unit);
}

using FigureOf = std::function<std::optional<double>(const Entry&)>;

std::vector<std::optional<double>> gather(const EntryList& entries, const FigureOf& figure) {
  std::vector<std::optional<double>> values;
  values.reserve(entries.size());
  for (const Entry* entry : entries) values.push_back(figure(*entry));
  return values;
}

/// With one prefix for all: whole numbers in full, others with four significant digits and the
/// zeros that belong to them.
Column number_column(std::string name, const std::string& unit, const EntryList& entries,
                     const FigureOf& figure) {
  const auto values = gather(entries, figure);
  const Scale scale = scale_for(values, unit);
  Column column{std::move(name), scale.unit};
  const bool whole = std::ranges::all_of(values, [&](const auto& value) {
    return !value || *value / scale.factor == std::trunc(*value / scale.factor);
  });
  for (const std::optional<double>& value : values) {
    const double scaled = value.value_or(0) / scale.factor;
    column.cells.push_back(!value  ? nothing
                           : whole ? format_count(scaled)
                                   : with_zeros(format_number(scaled)));
  }
  return column;
}

std::optional<double> metric_value(const Entry& entry) { return entry.metric.value; }

Column axis_column(const std::string& axis, const EntryList& entries) {
  Column column{spaced(axis), ""};
  const bool bytes = axis.ends_with(" (B)");
  if (bytes) column.name.resize(axis.size() - 4);
  for (const Entry* entry : entries) {
    const AxisValue* value = find_axis(*entry, axis);
    if (value && std::holds_alternative<std::string>(*value)) column.is_text = true;
    // "4 GiB", not "4294967296".
    column.cells.push_back(value ? escape_text(format_axis_value(bytes ? "size" : axis, *value))
                                 : nothing);
  }
  return column;
}

Column counter_column(const std::string& role, const EntryList& entries) {
  std::string unit;
  for (const Entry* entry : entries) {
    const Counter* counter = find_counter(*entry, role);
    if (counter && unit.empty()) unit = counter->unit;
  }
  // The role often ends in its unit: "global load sectors".
  std::string name = spaced(role);
  if (name.ends_with(unit)) unit.clear();
  return number_column(std::move(name), unit, entries,
                       [&](const Entry& entry) { return counter_value(entry, role); });
}

/// "1.056 ± 0.12 %".
Column ratio_column(const std::string& opponent, const EntryList& entries) {
  const auto of = [&](const Entry& entry) {
    return std::ranges::find(entry.opponents, opponent, &Opponent::name);
  };
  Column column = number_column("ratio to " + opponent, "", entries, [&](const Entry& entry) {
    const auto found = of(entry);
    return found == entry.opponents.end() ? std::nullopt : found->ratio;
  });
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (const auto found = of(*entries[i]);
        found != entries[i]->opponents.end() && found->ratio && found->ratio_interval)
      column.cells[i] += reach_of(*found->ratio, *found->ratio_interval, 2);
  return column;
}

Column share_column(std::string name, const EntryList& entries, const FigureOf& share) {
  Column column{std::move(name), "%"};
  for (const Entry* entry : entries) {
    const auto value = share(*entry);
    column.cells.push_back(value ? fmt::format("{:.1f}", *value * 100) : nothing);
  }
  return column;
}

/// The share of the bound as it is at the clock that was measured, where it grows with the clock.
std::optional<double> share_at_clock(const Entry& entry) {
  const auto share = reports::share_of_bound(entry);
  const auto clock = sm_clock_of(entry);
  if (!share || !clock || !(*clock > 0) || !entry.bound->clock_hz) return std::nullopt;
  return *share * *entry.bound->clock_hz / *clock;
}

/// For one of the view's levels, by its label.
Column level_column(const std::string& label, const EntryList& entries,
                    const std::vector<PlotLevel>& levels) {
  const auto level = std::ranges::find(levels, label, &PlotLevel::label);
  return share_column("of " + label, entries, [&](const Entry& entry) -> std::optional<double> {
    if (level == levels.end() || !(level->y > 0) || !entry.metric.value) return std::nullopt;
    return *entry.metric.value / level->y;
  });
}

/// The share of the entry's best opponent: not the ratio, which is of pairs timed alternately.
std::optional<double> share_of_opponent(const Entry& entry) {
  const bool higher = entry.metric.better == Better::higher;
  std::optional<double> best;
  for (const Opponent& opponent : entry.opponents) {
    if (!opponent.value || !(*opponent.value > 0)) continue;
    if (!best || (higher ? *opponent.value > *best : *opponent.value < *best))
      best = opponent.value;
  }
  if (!best || !entry.metric.value || !(*entry.metric.value > 0)) return std::nullopt;
  return higher ? *entry.metric.value / *best : *best / *entry.metric.value;
}

Column text_column(std::string name, const EntryList& entries,
                   const std::function<std::string(const Entry&)>& text) {
  Column column{std::move(name), "", true};
  for (const Entry* entry : entries) {
    const std::string cell = text(*entry);
    column.cells.push_back(cell.empty() ? nothing : escape_text(cell));
  }
  return column;
}

/// With one prefix for all where the entries have one metric, otherwise each with its unit.
Column metric_column(const EntryList& entries) {
  const bool one = !entries.empty() && std::ranges::all_of(entries, [&](const Entry* entry) {
    return have_one_metric(*entry, *entries.front());
  });
  Column column{"measured", ""};
  if (one)
    column = number_column(spaced(entries.front()->metric.name), entries.front()->metric.unit,
                           entries, metric_value);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!one) column.cells.push_back(quantity(metric_value(*entries[i]), entries[i]->metric.unit));
    const VerdictStatus status = entries[i]->verdict.status;
    if (status == VerdictStatus::noisy)
      column.cells[i] += " ~";
    else if (status != VerdictStatus::ok)
      column.cells[i] +=
          is_failure(status) ? " **" + words(status) + "**" : " (" + words(status) + ")";
  }
  return column;
}

/// "Bandwidth (GB/s)", or the label alone where there is no unit.
std::string with_unit(const std::string& label, const std::string& unit) {
  if (unit.empty()) return label;
  // Its author may have written the unit already: "Bandwidth (B/s)", "Clocks per access".
  const std::size_t open = label.rfind(" (");
  const bool has_unit = open != std::string::npos && label.ends_with(")") &&
                        unit.ends_with(label.substr(open + 2, label.size() - open - 3));
  return fmt::format("{} ({})", has_unit ? label.substr(0, open) : label, unit);
}

}  // namespace

Column make_column(const std::string& name, const EntryList& entries,
                   const std::vector<PlotLevel>& levels) {
  const auto after = [&](std::string_view prefix) { return name.substr(prefix.size()); };
  if (name == "metric") return metric_column(entries);
  if (name == "of_bound")
    return share_column("of bound", entries,
                        [](const Entry& entry) { return share_of_bound(entry); });
  if (name == "of_bound_at_clock")
    return share_column("of bound at its clock", entries, share_at_clock);
  if (name == "of_opponent") return share_column("of its opponent", entries, share_of_opponent);
  if (name.starts_with("of_level:")) return level_column(after("of_level:"), entries, levels);
  if (name == "time") {
    return number_column("time", "s", entries, [](const Entry& entry) {
      return entry.real_time_s > 0 ? std::optional(entry.real_time_s) : std::nullopt;
    });
  }
  if (name.starts_with("note:")) {
    const std::string note = after("note:");
    return text_column(spaced(note), entries,
                       [&](const Entry& entry) { return note_of(entry, note); });
  }
  if (name.starts_with("ratio:")) return ratio_column(after("ratio:"), entries);
  if (name.starts_with("counter:")) return counter_column(after("counter:"), entries);
  if (name.starts_with("extra:")) {
    const std::string extra = after("extra:");
    return number_column(spaced(extra), "", entries, [&](const Entry& entry) {
      const auto found = entry.extras.find(extra);
      return found == entry.extras.end() ? std::nullopt : std::optional(found->second);
    });
  }
  return axis_column(name, entries);
}

Table make_table(const std::vector<Column>& columns, std::string& constant) {
  std::vector<const Column*> varying;
  for (const Column& column : columns) {
    const bool same =
        column.cells.size() > 1 &&
        std::all_of(column.cells.begin(), column.cells.end(),
                    [&](const std::string& cell) { return cell == column.cells.front(); });
    if (!same) {
      varying.push_back(&column);
      continue;
    }
    if (column.cells.front() == nothing) continue;
    constant += fmt::format("{}{}: {}{}", constant.empty() ? "" : " · ", escape_text(column.name),
                            column.cells.front(),
                            column.unit.empty() ? "" : " " + escape_text(column.unit));
  }
  // Rows that are all alike are still rows.
  if (varying.empty() && !columns.empty()) varying.push_back(&columns.front());
  std::vector<std::string> headers;
  for (const Column* column : varying) {
    std::string header = escape_text(with_unit(column->name, column->unit));
    // "cub::DeviceReduce" may break: no figure is as wide.
    for (std::size_t at = 0; (at = header.find("::", at)) != std::string::npos; at += 7)
      header.insert(at + 2, "<wbr>");
    headers.push_back((column->is_text ? "" : ">") + header);
  }
  Table table(std::move(headers));
  const std::size_t rows = varying.empty() ? 0 : varying.front()->cells.size();
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::string> cells;
    for (const Column* column : varying) cells.push_back(column->cells[row]);
    table.add_row(std::move(cells));
  }
  return table;
}

EntryList shown_by(const View& view, const EntryList& entries) {
  EntryList shown;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(shown),
               [&](const Entry* entry) { return matches(*entry, view); });
  return shown;
}

}  // namespace fathom::reports
