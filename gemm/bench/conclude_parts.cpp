#include "gemm/bench/conclude_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gemm/bench/problem.h"
#include "results/query.h"

namespace fathom::gemm {

AxisFilter at_size(const std::string& type, std::int64_t size) {
  return {{"part", "ladder"}, {"type", type}, {"m", size},  {"n", size},
          {"k", size},        {"alpha", 1.0}, {"beta", 0.0}};
}

std::int64_t shown_size(std::span<const Entry> entries) {
  std::int64_t largest = 0;
  for (const Entry* entry : select(entries, {{"part", "ladder"}})) {
    const AxisValue* m = find_axis(*entry, "m");
    const auto* size = m == nullptr ? nullptr : std::get_if<std::int64_t>(m);
    if (size == nullptr || !entry->metric.value) continue;
    if (*size == compared_size) return compared_size;
    largest = std::max(largest, *size);
  }
  return largest == 0 ? compared_size : largest;
}

const std::string& rung_of(const Entry& entry) {
  return std::get<std::string>(*find_axis(entry, "rung"));
}

std::vector<const Entry*> ladder_of(std::span<const Entry> entries, const std::string& type,
                                    std::int64_t size) {
  std::vector<const Entry*> found = select(entries, at_size(type, size));
  std::erase_if(found, [](const Entry* entry) { return !entry->metric.value; });
  return found;
}

const Entry* best_of_ladder(std::span<const Entry> entries, const std::string& type,
                            std::int64_t size) {
  return best(select(entries, at_size(type, size)));
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
  const auto size = [&](const char* axis) {
    return std::get<std::int64_t>(*find_axis(entry, axis));
  };
  return fmt::format("{} {}x{}x{}", std::get<std::string>(*find_axis(entry, "layout")), size("m"),
                     size("n"), size("k"));
}

const Entry* contender_among(std::vector<const Entry*> rungs) {
  std::erase_if(rungs, [](const Entry* entry) { return !ratio_to_faster(*entry); });
  return best(rungs);
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

std::optional<double> ratio_to_faster(const Entry& entry) {
  std::optional<double> worst;
  for (const Opponent& opponent : entry.opponents) {
    if (opponent.ratio && (!worst || *opponent.ratio < *worst)) worst = opponent.ratio;
  }
  return worst;
}

bool has_figure(const Entry& entry) { return entry.metric.value.has_value(); }

Quantity rung_at_size(std::string name, const std::string& rung, const char* type) {
  AxisFilter where = at_size(type, compared_size);
  where.emplace_back("rung", rung);
  return {std::move(name), where, Pick::first, metric_of, "FLOP/s", has_figure};
}

Quantity rung_at_size(std::string name, const std::string& rung, Figure figure) {
  Quantity quantity = rung_at_size(std::move(name), rung);
  quantity.figure = std::move(figure);
  quantity.unit = "";
  return quantity;
}

Quantity best_at_size(std::string name, const char* type, std::function<bool(const Entry&)> only) {
  return {std::move(name), at_size(type, compared_size), Pick::best, metric_of, "FLOP/s",
          std::move(only)};
}

Quantity library_at_size(const char* type) {
  return {"library", at_size(type, compared_size), Pick::most, fastest_opponent_of, "FLOP/s"};
}

Formula percent(std::string name, std::string over, std::string under) {
  return {std::move(name), [over, under](const Figures& f) { return 100 * (f[over] / f[under]); }};
}

FigureRange about(std::string name, double claimed) {
  return {std::move(name), 0.75 * claimed, 1.25 * claimed};
}

}  // namespace fathom::gemm
