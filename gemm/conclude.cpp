#include "gemm/conclude.h"

#include <fmt/format.h>

#include "gemm/conclude_parts.h"
#include "gemm/conclude_views.h"
#include "gemm/problem.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

/// The fastest rung of a type with what it was held against: "fp32 56 TFLOP/s by 22_planned_tiles, ...".
std::string sentence_of(std::span<const Entry> entries, const std::string& type, std::int64_t size) {
  const Entry* top = best_of_ladder(entries, type, size);
  if (top == nullptr) return "";
  std::string text = fmt::format("{} {} by {}", type, format_quantity(*top->metric.value, "FLOP/s"),
                                 std::get<std::string>(*find_axis(*top, "rung")));
  if (top->bound) {
    text += fmt::format(" ({:.1f} % of the peak)", 100 * *top->metric.value / top->bound->value);
  }
  const std::optional<double> ratio = ratio_to_faster(*top);
  if (ratio) {
    text += fmt::format(", {:.3f} x the vendor's library", *ratio);
  } else if (const Entry* contender = contender_of(entries, type, size)) {
    text += fmt::format(", with {} at {:.3f} x the vendor's library",
                        std::get<std::string>(*find_axis(*contender, "rung")), *ratio_to_faster(*contender));
  } else {
    text += ", with no vendor's library to compare with";
  }
  return text;
}

std::string answer(std::span<const Entry> entries) {
  std::string text;
  const std::int64_t size = shown_size(entries);
  for (const ClassTraits& row : all_classes()) {
    const std::string sentence = sentence_of(entries, row.name, size);
    if (sentence.empty()) continue;
    text += (text.empty() ? fmt::format("At {} cubed: ", size) : "; ") + sentence;
  }
  return text.empty() ? text : text + ".";
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
