#include "gemm/conclude.h"

#include <fmt/format.h>

#include "gemm/conclude_parts.h"
#include "gemm/problem.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

/// The fastest rung of a type with what it was held against: "fp32 56 TFLOP/s by 22_planned_tiles, ...".
std::string sentence_of(std::span<const Entry> entries, const std::string& type) {
  const Entry* top = best_of_ladder(entries, type);
  if (top == nullptr) return "";
  std::string text = fmt::format("{} {} by {}", type, format_quantity(*top->metric.value, "FLOP/s"),
                                 std::get<std::string>(*find_axis(*top, "rung")));
  if (top->bound) {
    text += fmt::format(" ({:.1f} % of the peak)", 100 * *top->metric.value / top->bound->value);
  }
  const std::optional<double> ratio = ratio_to_faster(*top);
  if (ratio) {
    text += fmt::format(", {:.3f} x the vendor's library", *ratio);
  } else if (!library_of(entries, type)) {
    text += ", with no vendor's library to compare with";
  }
  return text;
}

std::string answer(std::span<const Entry> entries) {
  std::string text;
  for (const ClassTraits& row : all_classes()) {
    const std::string sentence = sentence_of(entries, row.name);
    if (sentence.empty()) continue;
    text += (text.empty() ? "At 4096 cubed: " : "; ") + sentence;
  }
  return text.empty() ? text : text + ".";
}

using Where = std::vector<std::pair<std::string, std::vector<AxisValue>>>;

View ladder_plot(const std::string& type) {
  View view;
  view.kind = View::Kind::plot;
  view.title = fmt::format("Throughput by rung: {}", type);
  view.note = "4096 cubed, random normal data, no transposes.";
  view.where = {{"part", {"ladder"}}, {"type", {type}}, {"m", {compared_size}}};
  view.x = "rung";
  view.x_label = "Rung";
  view.y_label = "Throughput (FLOP/s)";
  return view;
}

View ladder_table(const std::string& type) {
  View view;
  view.title = fmt::format("The ladder: {}", type);
  view.note = "Errors are against an fp64 reference: of the Frobenius norm, and the worst element against "
              "what rounding explains.";
  view.where = {{"part", {"ladder"}}, {"type", {type}}, {"m", {compared_size}}};
  view.columns = {"rung", "metric", "of_bound", "ratio:cuBLAS", "ratio:cuBLASLt, best of 32",
                  "extra:registers", "extra:shared_bytes", "extra:resident_warps",
                  "extra:relative_frobenius_error", "extra:worst_error_of_allowed", "verdict"};
  return view;
}

View counters_table(const std::string& type) {
  View view;
  view.title = fmt::format("What the counters say of each step: {}", type);
  view.where = {{"part", {"ladder"}}, {"type", {type}}, {"m", {compared_size}}};
  view.columns = {"rung", "counter:global_load_sectors", "counter:shared_load_wavefronts",
                  "counter:shared_load_conflicts", "counter:shared_store_conflicts",
                  "counter:instructions_executed", "counter:issue_active", "counter:achieved_occupancy",
                  "counter:stall_long_scoreboard", "counter:stall_mio_throttle",
                  "counter:stall_lg_throttle", "counter:stall_barrier", "counter:stall_not_selected"};
  return view;
}

View contest_table() {
  View view;
  view.title = "Against the vendor's library";
  view.note = "A ratio above 1 is faster than the library, timed alternately in the same run.";
  view.where = {{"part", {"contest", "request"}}};
  view.columns = {"type", "rung", "layout", "m", "n", "k", "metric", "of_bound", "ratio:cuBLAS",
                  "ratio:cuBLASLt, best of 32", "verdict"};
  return view;
}

View sustained_table() {
  View view;
  view.title = "Under lasting load";
  view.note = "After two seconds of load, turns of one second each, alternately with the library; joules of one "
              "product, by the GPU's energy counter.";
  view.where = {{"part", {"sustained"}}};
  view.columns = {"type", "rung", "m", "metric", "ratio:cuBLAS", "ratio:cuBLASLt, best of 32", "extra:joules",
                  "extra:joules:cuBLAS", "extra:joules:cuBLASLt, best of 32", "verdict"};
  return view;
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.answer = answer(entries);
  findings.claims = conclude_claims(entries);
  for (const ClassTraits& row : all_classes()) {
    if (best_of_ladder(entries, row.name) == nullptr) continue;
    findings.views.push_back(ladder_plot(row.name));
    findings.views.push_back(ladder_table(row.name));
    findings.views.push_back(counters_table(row.name));
  }
  findings.views.push_back(contest_table());
  findings.views.push_back(sustained_table());
  return findings;
}

}  // namespace fathom::gemm
