#include "gemm/bench/conclude.h"

#include <fmt/format.h>

#include "gemm/bench/conclude_parts.h"
#include "gemm/bench/problem.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

/// The fastest of these rungs with what it was held against: "56 TFLOP/s by 22_planned_tiles, ...".
std::string sentence_of(const std::vector<const Entry*>& rungs) {
  const Entry* top = best(rungs);
  if (top == nullptr) return "";
  std::string text =
      fmt::format("{} by {}", format_quantity(*top->metric.value, "FLOP/s"), rung_of(*top));
  if (top->bound) {
    text += fmt::format(" ({:.1f} % of the peak)", 100 * *top->metric.value / top->bound->value);
  }
  const std::optional<double> ratio = ratio_to_faster(*top);
  if (ratio) {
    text += fmt::format(", {:.3f} x the vendor's library", *ratio);
  } else if (const Entry* contender = contender_among(rungs)) {
    text += fmt::format(", with {} at {:.3f} x the vendor's library", rung_of(*contender),
                        *ratio_to_faster(*contender));
  } else {
    text += ", with no vendor's library to compare with";
  }
  return text;
}

std::string answer(std::span<const Entry> entries) {
  const std::int64_t size = shown_size(entries);
  std::string of_ladders, of_request;
  const auto add = [](std::string& text, const std::string& name, const std::string& sentence) {
    if (!sentence.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, sentence);
  };
  for (const ClassTraits& row : all_classes()) {
    add(of_ladders, row.name, sentence_of(ladder_of(entries, row.name, size)));
    const std::vector<const Entry*> asked = requested(entries, row.name);
    if (!asked.empty())
      add(of_request, fmt::format("{} {}:", row.name, product_of(*asked.front())),
          sentence_of(asked));
  }
  if (!of_ladders.empty()) return fmt::format("At {} cubed: {}.", size, of_ladders);
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

}  // namespace fathom::gemm
