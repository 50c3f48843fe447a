#include "probes/memory_bandwidth/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "probes/memory_bandwidth/entry_facts.h"
#include "results/query.h"

namespace fathom::memory_bandwidth {
namespace {

/// Levels that a load instruction reaches, and the width that speaks for them.
struct Level {
  const char* id;
  const char* subject;  ///< for readers
  const char* axis;     ///< as the cases name it
  std::int64_t width;
  const char* absent;
};

constexpr Level levels[] = {
    {"registers", "registers", "registers", 4, left_out},
    {"shared", "shared memory", "shared", 16, left_out},
    {"dsmem", "distributed shared memory", "distributed shared", 16, no_clusters},
    {"l1", "L1", "L1", 16, left_out},
    {"l2", "L2", "L2", 16, left_out},
    {"dram", "DRAM", "DRAM", 16, left_out},
};

/// Whether an L2 load is known not to come from the L1: by the counter, or, where nothing was
/// counted, by an instruction that cannot hit there.
bool passes_by_l1(const Entry& entry) {
  constexpr double tolerated_percent = 1;
  if (const auto hits = counter_value(entry, "l1_hit_rate")) return *hits <= tolerated_percent;
  return matches(entry, {{"instruction", "ld.global.cg"}});
}

/// Whether the L2 itself read what was loaded: by the counters, or, where nothing was counted,
/// because no two SMs load the same. What several SMs ask for at once an H200's L2 reads once: such
/// bytes are moved to the SMs but not by the L2.
bool all_read_by_l2(const Entry& entry) {
  constexpr double enough = 0.99;
  if (const auto share = read_by_l2(entry)) return *share >= enough;
  return !matches(entry, {{"sharing", "every SM everything"}});
}

std::vector<const Entry*> candidates(std::span<const Entry> entries, const Level& level,
                                     const char* operation) {
  std::vector<const Entry*> result = select(entries, {{"sweep", "level"},
                                                      {"level", level.axis},
                                                      {"operation", operation},
                                                      {"width (B)", level.width}});
  if (std::string(level.id) == "l2" && std::string(operation) == "load") {
    std::erase_if(
        result,
        [](const Entry* entry) { return !passes_by_l1(*entry) || !all_read_by_l2(*entry); });
  }
  return result;
}

/// By the clock that the driver reported, where no warp read its own.
std::optional<Fact> by_reported_clock(const Entry& entry, const Fact& bandwidth) {
  const AxisValue* axis = find_axis(entry, "SMs");
  const auto* sms = axis == nullptr ? nullptr : std::get_if<std::int64_t>(axis);
  const std::optional<double> clock = entry.telemetry.sm_clock_hz.median;
  if (sms == nullptr || !clock || !(*clock > 0)) return std::nullopt;
  const double clocks = static_cast<double>(*sms) * *clock;
  Fact fact = bandwidth;
  fact.method += ", over SMs x the SM clock reported";
  *fact.value /= clocks;
  if (fact.interval) {
    fact.interval->low /= clocks;
    fact.interval->high /= clocks;
  }
  return fact;
}

/// By the clocks that the SMs read.
std::optional<Fact> by_own_clocks(const Entry& entry, const Fact& bandwidth) {
  const auto value = extra(entry, "bytes_per_clock");
  if (!value) return std::nullopt;
  Fact fact = bandwidth;
  fact.method += ", SM clocks";
  fact.value = value;
  fact.interval.reset();
  const auto low = extra(entry, "bytes_per_clock_low"), high = extra(entry, "bytes_per_clock_high");
  if (low && high) fact.interval = Interval{*low, *high, 0.95, "order statistics of the launches"};
  return fact;
}

/// "; as measured, 1.99 of the three operands a clock and lane, ...": the bound is what the
/// multiply-adds could take; nobody says what the register file can give.
std::string operands_note(double bytes_per_clock, double bound) {
  return fmt::format(
      "; as measured, {:.2f} of the three operands a clock and lane, none of them from a reuse "
      "cache; what the register file can give is not published",
      3 * bytes_per_clock / bound);
}

FactName per_clock_name(const Level& level) {
  return {fmt::format("{}.bytes_per_clock", level.id), level.subject, "bytes per clock and SM",
          "B/clk"};
}

/// The same per SM and clock.
Fact per_clock(const Entry& entry, const Level& level, const Fact& bandwidth) {
  const FactName name = per_clock_name(level);
  std::optional<Fact> fact = by_own_clocks(entry, bandwidth);
  if (!fact) fact = by_reported_clock(entry, bandwidth);
  if (!fact) return missing_fact(name, "no SM clock was read");
  fact->id = name.id;
  fact->quantity = name.quantity;
  fact->unit = name.unit;
  fact->bound.reset();
  if (const auto bound = extra(entry, "sm_bound_bytes_per_clock")) {
    fact->bound = Bound{*bound, "bytes that one SM can move in a clock"};
    if (std::string(level.id) == "registers") fact->method += operands_note(*fact->value, *bound);
  }
  return *fact;
}

void add_loads(std::vector<Fact>& facts, std::span<const Entry> entries, const Level& level) {
  const FactName name{fmt::format("{}.bandwidth", level.id), level.subject, "bandwidth"};
  const std::vector<const Entry*> cases = candidates(entries, level, "load");
  facts.push_back(bandwidth_fact(cases, name, level.absent));
  facts.push_back(facts.back().value ? per_clock(*best(cases), level, facts.back())
                                     : missing_fact(per_clock_name(level), level.absent));
}

struct Direction {
  const char* id;
  const char* quantity;
  const char* operation;
};
constexpr Direction directions[] = {
    {"store_bandwidth", "store bandwidth", "store"},
    {"mixed_bandwidth", "bandwidth of loads and stores, 1:1", "copy"},
};

void add_stores(std::vector<Fact>& facts, std::span<const Entry> entries, const Level& level) {
  for (const Direction& direction : directions) {
    const FactName name{fmt::format("{}.{}", level.id, direction.id), level.subject,
                        direction.quantity, "B/s"};
    const std::string id = level.id;
    const char* never = nullptr;
    if (id == "l1") never = "the L1 writes through: what stores reach is the L2's store bandwidth";
    if (id == "registers")
      never =
          "an instruction writes one result for the operands it reads, so that no mix but its own "
          "can be measured";
    facts.push_back(
        never != nullptr
            ? missing_fact(name, never)
            : bandwidth_fact(candidates(entries, level, direction.operation), name, level.absent));
  }
}

}  // namespace

std::vector<Fact> level_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const Level& level : levels) {
    add_loads(facts, entries, level);
    add_stores(facts, entries, level);
  }
  return facts;
}

}  // namespace fathom::memory_bandwidth
