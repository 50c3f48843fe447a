#include "gemm/bench/conclude.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "results/findings.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::gemm {
namespace {

/// The size at which ladders are shown: the compared one or, without it, the largest with rungs.
std::int64_t shown_size(std::span<const Entry> entries) {
  std::int64_t largest = 0;
  for (const Entry* entry : select(entries, {{"part", "ladder"}})) {
    const double size = axis_of("m")(*entry);
    if (std::isnan(size) || !is_measured(*entry)) continue;
    if (size == ladder_size) return ladder_size;
    largest = std::max(largest, static_cast<std::int64_t>(size));
  }
  return largest;
}

/// The fastest of these rungs with what it was held against: "56 TFLOP/s by 26_sliced_depth, ...".
std::string sentence_of(std::vector<const Entry*> rungs) {
  const Entry* top = best(rungs);
  std::string text =
      fmt::format("{} by {}", format_quantity(*top->metric.value, "FLOP/s"), rung_of(*top));
  if (top->bound) {
    text += fmt::format(" ({:.1f} % of the peak)", 100 * *top->metric.value / top->bound->value);
  }
  // Only those that were timed alternately with the library.
  std::erase_if(rungs, [](const Entry* e) { return std::isnan(ratio_to_opponents(*e)); });
  const Entry* contender = best(rungs);
  if (contender == nullptr) return text + ", with no vendor's library to compare with";
  text += contender == top ? "," : fmt::format(", with {} at", rung_of(*contender));
  return text + fmt::format(" {:.3f} x the vendor's library", ratio_to_opponents(*contender));
}

std::string answer(std::span<const Entry> entries) {
  std::string of_ladders, of_request;
  for (const Ladder& ladder : ladders_of(entries)) {
    std::string& text = ladder.requested ? of_request : of_ladders;
    text += text.empty() ? "" : "; ";
    text += ladder.type + (ladder.requested ? " " + ladder.product + ":" : "");
    text += " " + sentence_of(ladder.rungs);
  }
  if (!of_ladders.empty()) return fmt::format("At {}³: {}.", shown_size(entries), of_ladders);
  return of_request.empty() ? "" : of_request + ".";
}

// Products around multiples of a tile, and what those pay whose size just passes one (claim T2).

/// One of a type's products around multiples of a tile, and what a model makes of it: a product
/// pays for whole tiles in whole waves, each kernel at its own speed (the median of its entries).
struct Point {
  const Entry* entry;
  double m, flop;
  double paid;  ///< FLOP that whole tiles in whole waves could do
  /// Time by the samples' SM clock: power leaves neighbours different ones.
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
    if (!is_measured(*entry) || !(point.m > 0 && flop > 0 && point.paid > 0 && point.cycles > 0) ||
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
  return !a.kernel.empty() && !a.kernel.starts_with("unknown: ") && a.kernel == b.kernel;
}

/// Sizes this close stand for "just past": their own work differs by about half a percent.
constexpr double just_past = 32;
/// Jumps of the model below this would be lost in the noise of a curve.
constexpr double least_jump = 1.05;
/// A product pays for a step if what it takes jumps by at least this share of what the model says.
constexpr double paid_share = 0.5;
constexpr const char* cause = "the kernel changes or is not known";

/// What a type says of the claim.
struct Answer {
  std::string words;               ///< empty: its model has no step
  double paid = 0;                 ///< share of the model's jump that half of them exceed
  std::vector<const Entry*> at{};  ///< the largest jump, before and after; empty: none counts
};

Answer answer_of(const std::vector<Point>& points) {
  // A few jumps that something else disturbed do not decide: the median of shares does.
  std::vector<double> paid;
  const Point *before = nullptr, *after = nullptr;  // the largest of these jumps
  double largest_step = 1;                          // of the model, whatever its size
  int left_out = 0;                                 // where the kernel changes or is not known
  double farthest = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    farthest = std::max(farthest, std::abs(points[i].cycles / points[i].modelled - 1));
    if (i == 0 || points[i].m - points[i - 1].m > just_past) continue;
    const Point &a = points[i - 1], &b = points[i];
    const double model = b.paid / a.paid;
    largest_step = std::max(largest_step, model);
    if (model < least_jump) continue;
    if (!same_kernel(a, b)) {
      ++left_out;
      continue;
    }
    paid.push_back((b.cycles / a.cycles - 1) / (model - 1));
    if (before == nullptr || model > after->paid / before->paid) before = &a, after = &b;
  }
  if (largest_step == 1) return {};
  if (paid.empty()) {
    return {left_out > 0
                ? fmt::format("is left out: where its model jumps, {}", cause)
                : fmt::format("is left out: no jump of its model reaches {:.2f} x (the largest is "
                              "{:.3f} x)",
                              least_jump, largest_step)};
  }
  return {
      fmt::format("by {} (from m = {:.0f} to {:.0f} its cycles grow {:.3f} x, what whole waves "
                  "of whole tiles take {:.3f} x{}), all {} sizes within {} of the model",
                  counted(paid.size(), "jump"), before->m, after->m, after->cycles / before->cycles,
                  after->paid / before->paid,
                  left_out > 0 ? fmt::format("; {} more left out, where {}", left_out, cause) : "",
                  points.size(), format_percent(farthest)),
      median(paid),
      {before->entry, after->entry}};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.answer = answer(entries);
  findings.claims = conclude_claims(entries);
  findings.views = ladder_views(entries);
  findings.page = "ladder";
  findings.page_title = "The matrix-product ladder";
  return findings;
}

AxisFilter at_size(const std::string& type, std::int64_t size) {
  return {{"part", "ladder"}, {"type", type}, {"m", size}};
}

const std::string& rung_of(const Entry& entry) {
  return std::get<std::string>(*find_axis(entry, "rung"));
}

std::string sums_of(const Entry& entry) {
  if (!matches(entry, {{"type", traits(Class::fp8).name}})) return "";
  return rung_of(entry).ends_with("_promoted") ? "promoted sums" : "fast sums";
}

std::vector<Ladder> ladders_of(std::span<const Entry> entries) {
  const std::int64_t size = shown_size(entries);
  std::vector<Ladder> ladders;
  for (const ClassTraits& row : all_classes()) {
    for (const bool requested : {false, true}) {
      Ladder ladder{.type = row.name,
                    .product = fmt::format("at {}³", size),
                    .where = at_size(row.name, size),
                    .requested = requested};
      if (requested) ladder.where = {{"part", "request"}, {"type", row.name}};
      ladder.rungs = select(entries, ladder.where);
      // A requested product without work has a time and no throughput.
      std::erase_if(ladder.rungs, [&](const Entry* e) {
        return !is_measured(*e) || (requested && e->metric.unit != "FLOP/s");
      });
      if (ladder.rungs.empty()) continue;
      const Entry& e = *ladder.rungs.front();
      if (requested)
        ladder.product =
            fmt::format("{} {:.0f}x{:.0f}x{:.0f}", std::get<std::string>(*find_axis(e, "layout")),
                        axis_of("m")(e), axis_of("n")(e), axis_of("k")(e));
      ladders.push_back(std::move(ladder));
    }
  }
  return ladders;
}

/// Between two steps it grows with m, and another kernel is another tooth.
std::vector<PlotStretch> saw_tooth(std::span<const Entry> entries, const std::string& type) {
  const std::vector<Point> points = points_of(entries, type);
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

/// The shares of all types come first: a page may have no room for more.
ClaimRow tile_claim(std::span<const Entry> entries) {
  ClaimRow claim{.id = "T2",
                 .source = toyx,
                 .statement =
                     "Tile quantisation does the same to a matrix product whose size just passes a "
                     "tile multiple",
                 .claimed = "sweep of m around multiples of the tile"};
  std::string details;
  for (const ClassTraits& row : all_classes()) {
    const Answer answer = answer_of(points_of(entries, row.name));
    if (answer.words.empty()) continue;
    details += fmt::format("; {} {}", row.name, answer.words);
    if (answer.at.empty()) continue;
    for (const Entry* entry : answer.at)
      claim.reading.push_back(
          {entry->name, {}, Pick::first, metric_of, "", [name = entry->name](const Entry& e) {
             return e.name == name;
           }});
    claim.reading.push_back(
        formula(row.name, [paid = answer.paid](const Figures&) { return paid; }));
    claim.checks.push_back({row.name, paid_share});
    claim.sentence +=
        fmt::format("{} {} {{{}:.0f%}}", claim.sentence.empty() ? "paid of the model's jump:" : ",",
                    row.name, row.name);
  }
  if (!claim.checks.empty()) {
    claim.sentence += details;
  } else if (!details.empty()) {
    claim.checks = {{"share"}};
    claim.missing = details.substr(2);
  }
  return claim;
}

}  // namespace fathom::gemm
