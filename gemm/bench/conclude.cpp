#include "gemm/bench/conclude.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "results/format.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

/// The fastest of these rungs with what it was held against: "56 TFLOP/s by 26_sliced_depth, ...".
std::string sentence_of(std::vector<const Entry*> rungs) {
  const Entry* top = best(rungs);
  if (top == nullptr) return "";
  std::string text =
      fmt::format("{} by {}", format_quantity(*top->metric.value, "FLOP/s"), rung_of(*top));
  if (top->bound) {
    text += fmt::format(" ({:.1f} % of the peak)", 100 * *top->metric.value / top->bound->value);
  }
  if (const double ratio = ratio_to_opponents(*top); !std::isnan(ratio)) {
    return text + fmt::format(", {:.3f} x the vendor's library", ratio);
  }
  // Only those that were timed alternately with the library.
  std::erase_if(rungs, [](const Entry* e) { return std::isnan(ratio_to_opponents(*e)); });
  const Entry* contender = best(rungs);
  if (contender == nullptr) return text + ", with no vendor's library to compare with";
  return text + fmt::format(", with {} at {:.3f} x the vendor's library", rung_of(*contender),
                            ratio_to_opponents(*contender));
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
  if (!of_ladders.empty()) return fmt::format("At {}³: {}.", size, of_ladders);
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
  return {{"part", "ladder"}, {"type", type}, {"m", size},  {"n", size},
          {"k", size},        {"alpha", 1.0}, {"beta", 0.0}};
}

std::int64_t shown_size(std::span<const Entry> entries) {
  std::int64_t largest = 0;
  for (const Entry* entry : select(entries, {{"part", "ladder"}})) {
    const double size = axis_of("m")(*entry);
    if (std::isnan(size) || !has_figure(*entry)) continue;
    if (size == ladder_size) return ladder_size;
    largest = std::max(largest, static_cast<std::int64_t>(size));
  }
  return largest == 0 ? ladder_size : largest;
}

const std::string& rung_of(const Entry& entry) {
  return std::get<std::string>(*find_axis(entry, "rung"));
}

std::vector<const Entry*> ladder_of(std::span<const Entry> entries, const std::string& type,
                                    std::int64_t size) {
  std::vector<const Entry*> found = select(entries, at_size(type, size));
  std::erase_if(found, [](const Entry* entry) { return !has_figure(*entry); });
  return found;
}

std::vector<const Entry*> requested(std::span<const Entry> entries, const std::string& type) {
  std::vector<const Entry*> found = select(entries, {{"part", "request"}, {"type", type}});
  // A product without work has a time and no throughput.
  std::erase_if(found, [](const Entry* entry) {
    return !entry->metric.value || entry->metric.unit != "FLOP/s";
  });
  return found;
}

std::string product_of(const Entry& entry) {
  return fmt::format("{} {:.0f}x{:.0f}x{:.0f}", std::get<std::string>(*find_axis(entry, "layout")),
                     axis_of("m")(entry), axis_of("n")(entry), axis_of("k")(entry));
}

std::string sums_of(const Entry& entry) {
  if (!matches(entry, {{"type", traits(Class::fp8).name}})) return "";
  return rung_of(entry).ends_with("_promoted") ? "promoted sums" : "fast sums";
}

std::vector<Library> libraries_among(std::span<const Entry* const> rungs) {
  std::vector<Library> found;
  for (const Entry* entry : rungs) {
    const Opponent* here = fastest_opponent(*entry);
    if (here == nullptr) continue;
    const Library library{*here->value, here->name, sums_of(*entry)};
    const auto same = std::ranges::find(found, library.sums, &Library::sums);
    if (same == found.end()) {
      found.push_back(library);
    } else if (library.throughput > same->throughput) {
      *same = library;
    }
  }
  return found;
}

bool has_figure(const Entry& entry) { return entry.metric.value.has_value(); }

Quantity rung_at_size(std::string name, const std::string& rung, Figure figure, const char* type) {
  AxisFilter where = at_size(type, ladder_size);
  where.emplace_back("rung", rung);
  return {std::move(name), where, Pick::first, std::move(figure), "", has_figure};
}

Quantity best_at_size(std::string name, const char* type, std::function<bool(const Entry&)> only) {
  return {std::move(name), at_size(type, ladder_size), Pick::best, metric_of, "", std::move(only)};
}

Quantity library_at_size(const char* type) {
  return {"library", at_size(type, ladder_size), Pick::most, fastest_opponent_of, "FLOP/s"};
}

Formula percent(std::string name, std::string over, std::string under) {
  return {std::move(name), [over, under](const Figures& f) { return 100 * (f[over] / f[under]); }};
}

FigureRange about(std::string name, double claimed) {
  return {std::move(name), 0.75 * claimed, 1.25 * claimed};
}

}  // namespace fathom::gemm
