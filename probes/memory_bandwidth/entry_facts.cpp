#include "probes/memory_bandwidth/entry_facts.h"

#include <fmt/format.h>

#include "results/format.h"
#include "results/query.h"

namespace fathom::memory_bandwidth {

std::optional<double> extra(const Entry& entry, const char* name) {
  const auto found = entry.extras.find(name);
  return found == entry.extras.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> read_by_l2(const Entry& entry) {
  const auto loaded = counter_value(entry, "global_load_sectors");
  const auto read = counter_value(entry, "l2_read_sectors");
  if (!loaded || !read || !(*loaded > 0)) return std::nullopt;
  return *read / *loaded;
}

namespace {

std::string axis_text(const Entry& entry, const char* name) {
  const AxisValue* value = find_axis(entry, name);
  return value == nullptr ? "" : format_axis_value(*value);
}

}  // namespace

std::string method_of(const Entry& entry, std::size_t cases) {
  std::string text =
      fmt::format("{}, {} bytes a lane, {} warps an SM", axis_text(entry, "instruction"),
                  axis_text(entry, "width (B)"), axis_text(entry, "warps per SM"));
  if (cases > 1) text += fmt::format(", best of {} cases", cases);
  return text + (entry.timing.mode == "in-kernel clock" ? ", SM clocks x SMs x SM clock"
                                                        : ", timed by events");
}

Fact bandwidth_fact(const std::vector<const Entry*>& cases, FactName name, const char* absent,
                    const std::function<std::string(const Entry&)>& note) {
  const Entry* entry = best(cases);
  name.unit = "B/s";
  if (entry == nullptr) return missing_fact(std::move(name), absent);
  return fact_of(*entry, std::move(name),
                 method_of(*entry, cases.size()) + (note ? note(*entry) : ""));
}

}  // namespace fathom::memory_bandwidth
