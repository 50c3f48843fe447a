// The top rungs over transpositions, over sizes, and around multiples of their tile.

#include <cmath>

#include "gemm/conclude_parts.h"
#include "gemm/conclude_views.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

/// Whether two products pay for as many whole waves, up to rounding.
bool same_waves(const Entry& a, const Entry& b) {
  return std::abs(paid_flop(a) / paid_flop(b) - 1) < 1e-9;
}

/// The model's saw-tooth: between two steps throughput grows with m.
std::vector<PlotStretch> saw_tooth(const TileSweep& sweep) {
  std::vector<PlotStretch> teeth;
  const auto height = [&](const Entry& entry) {
    return entry.extras.at("flop") / (paid_flop(entry) * sweep.seconds_per_flop);
  };
  for (std::size_t i = 0; i < sweep.entries.size();) {
    std::size_t last = i;
    while (last + 1 < sweep.entries.size() &&
           same_waves(*sweep.entries[last + 1], *sweep.entries[i])) {
      ++last;
    }
    const Entry &first = *sweep.entries[i], &end = *sweep.entries[last];
    if (last > i) {
      teeth.push_back({swept_m(first), height(first), swept_m(end), height(end), ""});
    }
    i = last + 1;
  }
  return teeth;
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
      "before the "
      "product, inside the time. No ratio: the library does not take the layout.";
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

View sizes_view(const std::string& type) {
  View view;
  view.kind = View::Kind::plot;
  view.title = "Throughput by size: " + type;
  view.note = "The top rung and the library as it is called by default, m = n = k.";
  view.section = type;
  view.where = {{"part", {"sizes"}}, {"type", {type}}};
  view.x = "m";
  view.x_label = "m = n = k";
  view.x_log2 = true;
  view.y_label = "Throughput (FLOP/s)";
  view.series = {"rung"};
  view.show_opponents = true;
  return view;
}

View tiles_view(const std::string& type, const TileSweep& sweep) {
  View view;
  view.kind = View::Kind::plot;
  view.title = "Throughput around multiples of the tile: " + type;
  view.note = "n = k = 4096, m at each multiple of 256, just past it and halfway to the next. The grey bands are "
              "the model: what whole waves of whole tiles take, at their median speed (claim T2).";
  view.section = type;
  view.where = {{"part", {"tiles"}}, {"type", {type}}};
  view.x = "m";
  view.x_label = "m";
  view.y_label = "Throughput (FLOP/s)";
  view.y_from_zero = false;
  view.show_bound = false;
  view.series = {"rung"};
  view.show_opponents = true;
  view.stretches = saw_tooth(sweep);
  return view;
}

View tiles_table(const std::string& type) {
  View view;
  view.title = "What whole tiles and waves cost: " + type;
  view.note = "Tile efficiency is the share of whole waves of whole tiles that the product fills.";
  view.section = type;
  view.where = {{"part", {"tiles"}}, {"type", {type}}};
  view.columns = {"m", "time", "metric", "extra:waves", "extra:tile_efficiency",
                  ratio_to_cublas, ratio_to_cublaslt, "verdict"};
  return view;
}

}  // namespace fathom::gemm
