#include "probes/memory_bandwidth/conclude_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "probes/memory_bandwidth/conclude_facts.h"
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

std::vector<const Entry*> candidates(std::span<const Entry> entries, const Level& level,
                                     const char* operation) {
  std::vector<const Entry*> result = select(entries, {{"sweep", "level"},
                                                      {"level", level.axis},
                                                      {"operation", operation},
                                                      {"width (B)", level.width}});
  if (std::string(level.id) == "l2" && std::string(operation) == "load") {
    std::erase_if(result, [](const Entry* entry) { return !passes_by_l1(*entry); });
  }
  return result;
}

/// The same per SM and clock, by the clocks that the SMs read.
Fact per_clock(const Entry& entry, const Level& level, const std::string& method) {
  const std::string id = fmt::format("{}.bytes_per_clock", level.id);
  const char* quantity = "bytes per clock and SM";
  const auto value = extra(entry, "bytes_per_clock");
  if (!value) {
    return missing_fact(id, level.subject, quantity, "B/clk", "the SMs' clocks were not read");
  }
  Fact fact = fact_of(entry, id, level.subject, quantity, method + ", SM clocks");
  fact.value = value;
  fact.unit = "B/clk";
  fact.interval.reset();
  const auto low = extra(entry, "bytes_per_clock_low"), high = extra(entry, "bytes_per_clock_high");
  if (low && high) {
    fact.interval = Interval{*low, *high, 0.95, "order statistics of the launches"};
  }
  fact.bound.reset();
  if (const auto bound = extra(entry, "sm_bound_bytes_per_clock")) {
    fact.bound = Bound{*bound, "bytes that one SM can move in a clock"};
  }
  return fact;
}

/// Figures of others for the same chip, re-read in what they name.
std::optional<Published> published(const Entry& entry, const std::string& id) {
  if (!extra(entry, "published_of_gh100")) return std::nullopt;
  const char* file = "RRZE gpu-benches, gpu-l2-cache/h200.txt";
  if (id == "l2.bandwidth") {
    return Published{9769.1e9,
                     fmt::format("{}, 30,720 kB, plain loads, hit rates not stated", file)};
  }
  if (id == "dram.bandwidth") {
    return Published{3888.8e9, fmt::format("{}, 1,064,448 kB", file)};
  }
  return std::nullopt;
}

void add_loads(std::vector<Fact>& facts, std::span<const Entry> entries, const Level& level) {
  const std::string id = fmt::format("{}.bandwidth", level.id);
  const std::vector<const Entry*> cases = candidates(entries, level, "load");
  const Entry* entry = best(cases);
  if (entry == nullptr) {
    facts.push_back(missing_fact(id, level.subject, "bandwidth", "B/s", level.absent));
    facts.push_back(missing_fact(fmt::format("{}.bytes_per_clock", level.id), level.subject,
                                 "bytes per clock and SM", "B/clk", level.absent));
    return;
  }
  const std::string method = method_of(*entry, cases.size());
  Fact fact = fact_of(*entry, id, level.subject, "bandwidth", method);
  fact.published = published(*entry, id);
  facts.push_back(std::move(fact));
  facts.push_back(per_clock(*entry, level, method));
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
    const std::string id = fmt::format("{}.{}", level.id, direction.id);
    const auto missing = [&](const char* reason) {
      facts.push_back(missing_fact(id, level.subject, direction.quantity, "B/s", reason));
    };
    if (std::string(level.id) == "l1") {
      missing("the L1 writes through: what stores reach is the L2's store bandwidth");
      continue;
    }
    if (std::string(level.id) == "registers") {
      missing(
          "an instruction writes one result for the operands it reads, so that no mix but its "
          "own can be measured");
      continue;
    }
    const std::vector<const Entry*> cases = candidates(entries, level, direction.operation);
    const Entry* entry = best(cases);
    if (entry == nullptr) {
      missing(level.absent);
      continue;
    }
    facts.push_back(
        fact_of(*entry, id, level.subject, direction.quantity, method_of(*entry, cases.size())));
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
