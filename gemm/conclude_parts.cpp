#include "gemm/conclude_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "gemm/problem.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

AxisFilter at_size(const std::string& type, std::int64_t size) {
  return {{"part", "ladder"}, {"type", type}, {"m", size},     {"n", size},
          {"k", size},        {"alpha", 1.0}, {"beta", 0.0}};
}

}  // namespace

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

const Entry* ladder_entry(std::span<const Entry> entries, const std::string& type, const std::string& rung) {
  AxisFilter filter = at_size(type, compared_size);
  filter.emplace_back("rung", rung);
  return find_measured(entries, filter);
}

const Entry* best_of_ladder(std::span<const Entry> entries, const std::string& type, std::int64_t size) {
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

std::optional<Library> faster_library(const Entry& entry) {
  std::optional<Library> faster;
  for (const Opponent& opponent : entry.opponents) {
    if (!opponent.value || (faster && *opponent.value <= faster->throughput)) continue;
    faster = Library{*opponent.value, opponent.name, entry.name, sums_of(entry)};
  }
  return faster;
}

std::vector<Library> libraries_among(std::span<const Entry* const> rungs) {
  std::vector<Library> found;
  for (const Entry* entry : rungs) {
    const std::optional<Library> here = faster_library(*entry);
    if (!here) continue;
    const auto same = std::ranges::find(found, here->sums, &Library::sums);
    if (same == found.end()) {
      found.push_back(*here);
    } else if (here->throughput > same->throughput) {
      *same = *here;
    }
  }
  return found;
}

std::optional<Library> library_of(std::span<const Entry> entries, const std::string& type,
                                  std::int64_t size) {
  const std::vector<Library> found = libraries_among(select(entries, at_size(type, size)));
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::optional<double> ratio_to_faster(const Entry& entry) {
  std::optional<double> worst;
  for (const Opponent& opponent : entry.opponents) {
    if (opponent.ratio && (!worst || *opponent.ratio < *worst)) worst = opponent.ratio;
  }
  return worst;
}

}  // namespace fathom::gemm
