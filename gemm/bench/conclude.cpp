#include "gemm/bench/conclude.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "results/findings.h"
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

Quantity rung_at_size(std::string name, const std::string& rung, const char* type, Figure figure) {
  return {std::move(name),
          at_size(type, ladder_size) + AxisFilter{{"rung", rung}},
          Pick::first,
          std::move(figure),
          "",
          is_measured};
}

Quantity library_at_size(const char* type) {
  return {"library", at_size(type, ladder_size), Pick::most, fastest_opponent_of, "FLOP/s"};
}

FigureRange about(std::string name, double claimed) {
  return {std::move(name), 0.75 * claimed, 1.25 * claimed};
}

}  // namespace fathom::gemm
