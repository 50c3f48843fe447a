// Products over sizes: around multiples of a tile, and what those pay whose size just passes one
// (claim T2); over squares; in other layouts.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gemm/bench/conclude.h"
#include "results/format.h"
#include "results/query.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

/// One of a type's products around multiples of a tile, and what a model makes of it: a product
/// pays for whole tiles in whole waves, each kernel at its own speed (the median of its entries).
struct Point {
  const Entry* entry;
  double m, flop;
  double paid;  ///< FLOP that whole tiles in whole waves could do
  /// The time by the SM clock of its samples: neighbours are timed at whatever clock power leaves
  /// each.
  double cycles;
  std::string kernel;   ///< empty where the entry does not say
  double modelled = 0;  ///< cycles
};

/// By m, those with figure, clock and model.
std::vector<Point> points_of(std::span<const Entry> entries, const std::string& type) {
  std::vector<Point> points;
  std::map<std::string, std::vector<double>> cycles_per_flop;  // by kernel
  for (const Entry* entry : select(entries, {{"part", "tiles"}, {"type", type}})) {
    const auto note = entry->notes.find(kernel_note);
    const double flop = extra_of("flop")(*entry);
    const Point point{entry,
                      axis_of("m")(*entry),
                      flop,
                      flop / extra_of("tile_efficiency")(*entry),
                      entry->real_time_s * entry->timing.sm_clock_hz.value_or(0),
                      note == entry->notes.end() ? "" : note->second};
    if (!has_figure(*entry) || !(point.m > 0 && flop > 0 && point.paid > 0 && point.cycles > 0) ||
        !std::isfinite(point.paid))
      continue;
    cycles_per_flop[point.kernel].push_back(point.cycles / point.paid);
    points.push_back(point);
  }
  std::ranges::sort(points, {}, &Point::m);
  for (Point& point : points) point.modelled = point.paid * median(cycles_per_flop[point.kernel]);
  return points;
}

/// Whether both are known to have run one and the same kernel.
bool same_kernel(const Point& a, const Point& b) {
  return !a.kernel.empty() && !a.kernel.starts_with(unknown_kernel) && a.kernel == b.kernel;
}

/// Sizes this close stand for "just past": their own work differs by about half a percent.
constexpr double just_past = 32;
/// Jumps of the model below this would be lost in the noise of a curve.
constexpr double least_jump = 1.05;
/// A product pays for a step if what it takes jumps by at least this share of what the model says.
constexpr double paid_share = 0.5;
constexpr const char* cause = "the kernel changes or is not known";

/// A step of the model between two neighbours, and what the product took there.
struct Jump {
  const Point *before, *after;
  double model, measured;  ///< ratios of cycles
};

/// A type's jumps that say what tiles cost, and why others do not.
struct Jumps {
  std::vector<Jump> judged;
  std::size_t left_out = 0;  ///< so many more where the kernel changes or is not known
  double largest_step = 1;   ///< of the model, whatever its size
};

Jumps jumps_of(const std::vector<Point>& points) {
  Jumps jumps;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point &before = points[i - 1], &after = points[i];
    if (after.m - before.m > just_past) continue;
    const double model = after.paid / before.paid;
    jumps.largest_step = std::max(jumps.largest_step, model);
    if (model < least_jump) continue;
    if (same_kernel(before, after)) {
      jumps.judged.push_back({&before, &after, model, after.cycles / before.cycles});
    } else {
      ++jumps.left_out;
    }
  }
  return jumps;
}

/// The share of the model's jump that half of them exceed: a few that something else disturbed do
/// not decide.
double median_paid(const Jumps& jumps) {
  std::vector<double> paid;
  for (const Jump& jump : jumps.judged) paid.push_back((jump.measured - 1) / (jump.model - 1));
  return median(paid);
}

/// What the claim's evidence is.
const Jump& largest(const Jumps& jumps) {
  return *std::ranges::max_element(jumps.judged, {}, &Jump::model);
}

std::string figure_of(const std::vector<Point>& points, const Jumps& jumps) {
  const Jump& jump = largest(jumps);
  std::string text = fmt::format(
      "pays {:.0f} % of the model's jump ({}; from m = {:.0f} to {:.0f} its cycles grow {:.3f} x, "
      "what whole waves of whole tiles take {:.3f} x",
      100 * median_paid(jumps),
      jumps.judged.size() == 1 ? "one jump"
                               : fmt::format("the median of {} jumps", jumps.judged.size()),
      jump.before->m, jump.after->m, jump.measured, jump.model);
  if (jumps.left_out > 0)
    text += fmt::format("; {} more left out, where {}", jumps.left_out, cause);
  double farthest = 0;
  for (const Point& p : points) farthest = std::max(farthest, std::abs(p.cycles / p.modelled - 1));
  return text + fmt::format("); all {} sizes are within {} of that model", points.size(),
                            format_percent(farthest));
}

/// The model's saw-tooth, in FLOP a cycle: between two steps it grows with m, and another kernel is
/// another tooth.
std::vector<PlotStretch> saw_tooth(const std::vector<Point>& points) {
  std::vector<PlotStretch> teeth;
  for (std::size_t i = 0, end; i < points.size(); i = end) {
    const Point& first = points[i];
    for (end = i + 1; end < points.size(); ++end) {
      // Up to rounding.
      const bool as_many_waves = std::abs(points[end].paid / first.paid - 1) < 1e-9;
      if (!as_many_waves || !same_kernel(points[end], first)) break;
    }
    const Point& last = points[end - 1];
    if (end - i > 1)
      teeth.push_back(
          {first.m, first.flop / first.modelled, last.m, last.flop / last.modelled, ""});
  }
  return teeth;
}

/// The picture of a curve over m, and the table of what each of its points took, at what clock.
View picture_of(const char* part, const std::string& type) {
  return {.kind = View::Kind::plot,
          .where = {{"part", {part}}, {"type", {type}}},
          .section = type,
          .x = "m",
          .series = {"rung"},
          .show_opponents = true};
}

View table_of(const char* part, const std::string& type) {
  return {.note =
              "Timed without rests, rung and library in turn, at the clock that power left both. "
              "Where throughput falls and the share of the bound at that clock does not, it is "
              "the clock and not the kernel.",
          .where = {{"part", {part}}, {"type", {type}}},
          .section = type,
          .columns = {"m", "time", "metric", "of_bound", "of_bound_at_clock", "sm_clock",
                      "throttle_reasons", "extra:waves", "extra:tile_efficiency", ratio_to_cublas,
                      ratio_to_cublaslt, std::string("note:") + kernel_note, "verdict"}};
}

}  // namespace

Claim tile_claim(std::span<const Entry> entries) {
  Claim claim = make_claim(
      "T2",
      "Tile quantisation does the same to a matrix product whose size just passes a tile multiple",
      "sweep of m around multiples of the tile");
  bool all_pay = true;
  for (const ClassTraits& row : all_classes()) {
    const std::vector<Point> points = points_of(entries, row.name);
    const Jumps jumps = jumps_of(points);
    if (jumps.left_out == 0 && jumps.largest_step == 1) continue;  // no step to speak of
    claim.figure += fmt::format("{}{} ", claim.figure.empty() ? "" : "; ", row.name);
    if (jumps.judged.empty()) {
      claim.figure +=
          jumps.left_out > 0
              ? fmt::format("is left out: where its model jumps, {}", cause)
              : fmt::format(
                    "is left out: no jump of its model reaches {:.2f} x (the largest is "
                    "{:.3f} x)",
                    least_jump, jumps.largest_step);
      continue;
    }
    all_pay = all_pay && median_paid(jumps) >= paid_share;
    claim.figure += figure_of(points, jumps);
    for (const Point* point : {largest(jumps).before, largest(jumps).after})
      claim.evidence.push_back(point->entry->name);
  }
  if (!claim.evidence.empty())
    claim.verdict = all_pay ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  return claim;
}

View layouts_view(std::span<const Entry> entries, const std::string& type) {
  std::vector<AxisValue> rungs;
  for (const Entry* entry : select(entries, {{"part", "layouts"}, {"type", type}}))
    rungs.emplace_back(rung_of(*entry));
  return {.title = "In each layout: " + type,
          .note =
              "First op(A), then op(B): T is transposed. An own path of 0 is a slower one, such as "
              "a copy before the product, inside the time. No ratio: the library does not take the "
              "layout.",
          // The ladder's own layout among them.
          .where = {{"part", {"ladder", "layouts"}},
                    {"type", {type}},
                    {"m", {ladder_size}},
                    {"rung", rungs}},
          .section = type,
          .columns = {"rung", "layout", "time", "metric", "of_bound", "of_bound_at_clock",
                      ratio_to_cublas, ratio_to_cublaslt, "extra:own_path", "verdict"}};
}

std::vector<View> sizes_views(const std::string& type) {
  View picture = picture_of("sizes", type), table = table_of("sizes", type);
  picture.title = "Throughput by size: " + type;
  picture.note = "The top rung and the library as it is called by default, m = n = k.";
  picture.x_label = "m = n = k";
  picture.x_log2 = true;
  picture.y_label = "Throughput (FLOP/s)";
  table.title = "Throughput by size, in figures: " + type;
  return {picture, table};
}

std::vector<View> tiles_views(std::span<const Entry> entries, const std::string& type) {
  View picture = picture_of("tiles", type), table = table_of("tiles", type);
  picture.title = "Throughput a cycle around multiples of the tile: " + type;
  picture.note =
      "n = k = 4096, m at each multiple of 256, just past it and halfway to the next. The grey "
      "bands are the model: what whole waves of whole tiles take, at the median speed of the "
      "kernel that ran (claim T2), in cycles of the SM clock, which was measured of rung and "
      "library together.";
  picture.x_label = "m";
  picture.y = "metric_per_cycle";
  picture.y_label = "Throughput";
  picture.y_from_zero = false;
  picture.show_bound = false;
  picture.stretches = saw_tooth(points_of(entries, type));
  table.title = "What whole tiles and waves cost: " + type;
  table.note =
      "Tile efficiency is the share of whole waves of whole tiles that the product fills. " +
      table.note;
  return {picture, table};
}

}  // namespace fathom::gemm
