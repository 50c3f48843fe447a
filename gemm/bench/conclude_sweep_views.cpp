// The top rungs over transpositions, over sizes, and around multiples of their tile.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gemm/bench/claimed_products.h"
#include "gemm/bench/conclude_parts.h"
#include "gemm/bench/tile_sweep.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

/// Whether two products pay for as many whole waves, up to rounding.
bool same_waves(const Entry& a, const Entry& b) {
  return std::abs(paid_flop(a) / paid_flop(b) - 1) < 1e-9;
}

/// The model's saw-tooth, in FLOP a cycle or a second as the sweep counts: between two steps it
/// grows with m, and another kernel is another tooth.
std::vector<PlotStretch> saw_tooth(const TileSweep& sweep) {
  const std::vector<const Entry*>& entries = sweep.entries();
  std::vector<PlotStretch> teeth;
  const auto height = [&](const Entry& entry) {
    return entry.extras.at("flop") / sweep.modelled(entry);
  };
  for (std::size_t i = 0; i < entries.size();) {
    std::size_t last = i;
    while (last + 1 < entries.size() && same_waves(*entries[last + 1], *entries[i]) &&
           same_kernel(*entries[last + 1], *entries[i])) {
      ++last;
    }
    const Entry &first = *entries[i], &end = *entries[last];
    if (last > i) teeth.push_back({swept_m(first), height(first), swept_m(end), height(end), ""});
    i = last + 1;
  }
  return teeth;
}

/// Under which conditions a curve's points were timed, and what the clock did meanwhile: a reader
/// must not blame the kernel for it.
std::string conditions(const std::vector<const Entry*>& entries) {
  std::vector<double> clocks;
  double highest = 0;
  bool rested = false;
  for (const Entry* entry : entries) {
    rested = rested || entry->timing.rest > 0;
    if (entry->bound) highest = std::max(highest, entry->bound->clock_hz.value_or(0));
    if (entry->timing.sm_clock_hz) clocks.push_back(*entry->timing.sm_clock_hz);
  }
  std::string text = rested ? "Timed in bursts" : "Timed without rests, rung and library in turn";
  if (clocks.empty()) return text + ", at clocks that are not known.";
  const auto [low, high] = std::ranges::minmax(clocks);
  text += fmt::format(", at the clock that power left {}: {} to {}", rested ? "it" : "both",
                      format_quantity(low, "Hz"), format_quantity(high, "Hz"));
  if (highest > 0) text += fmt::format(" of at most {}", format_quantity(highest, "Hz"));
  if (clocks.size() < entries.size()) {
    text +=
        fmt::format(", and not known of {} of {}", entries.size() - clocks.size(), entries.size());
  }
  return text +
         ". Where throughput falls and the share of the bound at that clock does not, it is the "
         "clock and not the kernel.";
}

/// What each point of a curve took, and at what clock.
std::vector<std::string> curve_columns() {
  return {"m",
          "time",
          "metric",
          "of_bound",
          "of_bound_at_clock",
          "sm_clock",
          "throttle_reasons",
          "extra:waves",
          "extra:tile_efficiency",
          ratio_to_cublas,
          ratio_to_cublaslt,
          std::string("note:") + kernel_note,
          "verdict"};
}

}  // namespace

View layouts_view(std::span<const Entry> entries, const std::string& type) {
  std::vector<AxisValue> rungs;
  for (const Entry* entry : select(entries, {{"part", "layouts"}, {"type", type}}))
    rungs.emplace_back(rung_of(*entry));
  View view;
  view.title = "In each layout: " + type;
  view.note =
      "First op(A), then op(B): T is transposed. An own path of 0 is a slower one, such as a copy "
      "before the product, inside the time. No ratio: the library does not take the layout.";
  view.section = type;
  // The ladder's own layout among them.
  view.where = {
      {"part", {"ladder", "layouts"}}, {"type", {type}}, {"m", {compared_size}}, {"rung", rungs}};
  view.columns = {"rung",          "layout",          "time",
                  "metric",        "of_bound",        "of_bound_at_clock",
                  ratio_to_cublas, ratio_to_cublaslt, "extra:own_path",
                  "verdict"};
  return view;
}

std::vector<View> sizes_views(std::span<const Entry> entries, const std::string& type) {
  View picture;
  picture.kind = View::Kind::plot;
  picture.title = "Throughput by size: " + type;
  picture.note = "The top rung and the library as it is called by default, m = n = k.";
  picture.section = type;
  picture.where = {{"part", {"sizes"}}, {"type", {type}}};
  picture.x = "m";
  picture.x_label = "m = n = k";
  picture.x_log2 = true;
  picture.y_label = "Throughput (FLOP/s)";
  picture.series = {"rung"};
  picture.show_opponents = true;
  View table;
  table.title = "Throughput by size, in figures: " + type;
  table.note = conditions(select(entries, {{"part", "sizes"}, {"type", type}}));
  table.section = type;
  table.where = picture.where;
  table.columns = curve_columns();
  return {picture, table};
}

std::vector<View> tiles_views(std::span<const Entry> entries, const std::string& type) {
  const TileSweep sweep(entries, type);
  View picture;
  picture.kind = View::Kind::plot;
  picture.title = fmt::format("Throughput{} around multiples of the tile: {}",
                              sweep.in_cycles() ? " a cycle" : "", type);
  picture.note = fmt::format(
      "n = k = 4096, m at each multiple of 256, just past it and halfway to the next. The grey "
      "bands are the model: what whole waves of whole tiles take, at the median speed of the "
      "kernel that ran (claim T2), in {}.",
      sweep.in_cycles()
          ? "cycles of the SM clock, which was measured of rung and library together"
          : "seconds, since that clock is not known of all: the bands and T2 mix tiles and clocks");
  picture.section = type;
  picture.where = {{"part", {"tiles"}}, {"type", {type}}};
  picture.x = "m";
  picture.x_label = "m";
  picture.y = sweep.in_cycles() ? "metric_per_cycle" : "metric";
  picture.y_label = "Throughput";
  picture.y_from_zero = false;
  picture.show_bound = false;
  picture.series = {"rung"};
  picture.show_opponents = true;
  picture.stretches = saw_tooth(sweep);
  View table;
  table.title = "What whole tiles and waves cost: " + type;
  table.note =
      "Tile efficiency is the share of whole waves of whole tiles that the product fills. " +
      conditions(select(entries, {{"part", "tiles"}, {"type", type}}));
  table.section = type;
  table.where = picture.where;
  table.columns = curve_columns();
  return {picture, table};
}

}  // namespace fathom::gemm
