#include "reports/roofline.h"

#include <algorithm>
#include <cmath>

#include "models/roofline.h"
#include "reports/plot_figure.h"
#include "results/query.h"

namespace fathom::reports {
namespace {

/// The sum of the terms; nothing where one is missing, or where there are none.
std::optional<double> sum_of(const std::vector<Term>& terms, const Entry& entry) {
  double sum = 0;
  for (const Term& term : terms) {
    const auto figure = plots::figure_of(entry, term.figure);
    if (!figure) return std::nullopt;
    sum += figure->value * term.factor;
  }
  return terms.empty() ? std::nullopt : std::optional(sum);
}

std::optional<LevelUse> use_of(const MemoryLevel& level, const Entry& entry, double flop) {
  LevelUse use;
  auto bytes = sum_of(level.counted, entry);
  if (!bytes) {
    use.counted = false;
    bytes = sum_of(level.otherwise, entry);
  }
  // A level that a kernel does not use at all has no intensity.
  if (!bytes || !(*bytes > 0) || !std::isfinite(flop / *bytes)) return std::nullopt;
  use.bytes = *bytes;
  use.intensity = flop / *bytes;
  return use;
}

/// What the roofs that are known allow the kernel.
void find_attainable(RooflineRow& row, const View& view, double flop, std::span<const DeviceBound> bounds) {
  if (!row.entry->bound || !(row.entry->bound->value > 0)) return;
  std::vector<models::MemoryCeiling> ceilings;
  models::RooflineKernel kernel{flop, {}};
  for (std::size_t i = 0; i < view.memory.size(); ++i) {
    const auto roof = roof_of(view.memory[i], bounds);
    if (!roof || !row.levels[i]) continue;
    ceilings.push_back({view.memory[i].name, *roof, ""});
    kernel.traffic.push_back({view.memory[i].name, row.levels[i]->bytes});
  }
  const models::Roofline roofline =
      models::roofline(ceilings, {"arithmetic", row.entry->bound->value, ""}, kernel);
  row.attainable = roofline.attainable;
  row.bound_by = roofline.bound_by;
}

}  // namespace

std::optional<double> roof_of(const MemoryLevel& level, std::span<const DeviceBound> bounds) {
  const auto found = std::ranges::find(bounds, level.bound, &DeviceBound::name);
  if (level.bound.empty() || found == bounds.end() || !(found->value > 0)) return std::nullopt;
  return plots::drawable(found->value);
}

std::vector<RooflineRow> roofline_rows(const View& view, std::span<const Entry* const> entries,
                                       std::span<const DeviceBound> bounds) {
  std::vector<RooflineRow> rows;
  for (const Entry* entry : entries) {
    const AxisValue* name = find_axis(*entry, view.x);
    const auto metric = plots::figure_of(*entry, "metric");
    const auto work = plots::figure_of(*entry, view.work);
    if (name == nullptr || !metric || !work) continue;
    if (metric->unit != "FLOP/s" || !(metric->value > 0) || !(work->value > 0)) continue;
    RooflineRow row{entry, plots::value_text(view.x, *name), metric->value, {}, {}, {}};
    for (const MemoryLevel& level : view.memory) row.levels.push_back(use_of(level, *entry, work->value));
    find_attainable(row, view, work->value, bounds);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace fathom::reports
