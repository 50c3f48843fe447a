#include "probes/memory_bandwidth/conclude_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "results/format.h"
#include "results/query.h"

namespace fathom::memory_bandwidth {
namespace {

constexpr const char* left_out = "its cases were left out of this run or failed";
constexpr const char* no_clusters = "this GPU has no clusters, or its cases were left out";

std::optional<double> extra(const Entry& entry, const char* name) {
  const auto found = entry.extras.find(name);
  return found == entry.extras.end() ? std::nullopt : std::optional(found->second);
}

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

std::string axis_text(const Entry& entry, const char* name) {
  const AxisValue* value = find_axis(entry, name);
  return value == nullptr ? "" : format_axis_value(*value);
}

/// "ld.global.cg, 16 bytes a lane, 32 warps an SM, best of 7 cases, by events".
std::string method_of(const Entry& entry, std::size_t cases) {
  std::string text = fmt::format("{}, {} bytes a lane, {} warps an SM", axis_text(entry, "instruction"),
                                 axis_text(entry, "width (B)"), axis_text(entry, "warps per SM"));
  if (cases > 1) text += fmt::format(", best of {} cases", cases);
  return text + (entry.timing.mode == "in-kernel clock" ? ", SM clocks x SMs x SM clock"
                                                        : ", timed by events");
}

Fact fact_of(const Entry& entry, std::string id, std::string subject, std::string quantity,
             std::string method) {
  Fact fact;
  fact.id = std::move(id);
  fact.subject = std::move(subject);
  fact.quantity = std::move(quantity);
  fact.value = entry.metric.value;
  fact.unit = "B/s";
  fact.interval = entry.interval;
  fact.method = std::move(method);
  fact.repeats = static_cast<int>(entry.samples.size());
  fact.evidence = {entry.name};
  fact.bound = entry.bound;
  fact.counters = entry.counters;
  return fact;
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
    return Published{9769.1e9, fmt::format("{}, 30,720 kB, plain loads, hit rates not stated", file)};
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
      missing("an instruction writes one result for the operands it reads, so that no mix but its "
              "own can be measured");
      continue;
    }
    const std::vector<const Entry*> cases = candidates(entries, level, direction.operation);
    const Entry* entry = best(cases);
    if (entry == nullptr) {
      missing(level.absent);
      continue;
    }
    facts.push_back(fact_of(*entry, id, level.subject, direction.quantity,
                            method_of(*entry, cases.size())));
  }
}

void add_clusters(std::vector<Fact>& facts, std::span<const Entry> entries) {
  for (const std::int64_t size : {2, 4, 8, 16}) {
    const std::string id = fmt::format("dsmem.bandwidth_cluster_{}", size);
    const std::string subject = fmt::format("distributed shared memory, cluster of {}", size);
    const Entry* entry = find_measured(entries, {{"sweep", "level"},
                                                 {"level", "distributed shared"},
                                                 {"operation", "load"},
                                                 {"width (B)", std::int64_t{16}},
                                                 {"cluster size", size}});
    facts.push_back(entry == nullptr
                        ? missing_fact(id, subject, "bandwidth", "B/s", no_clusters)
                        : fact_of(*entry, id, subject, "bandwidth", method_of(*entry, 1)));
  }
}

/// What the L2 gives by instruction, working set and sharing, which is what published figures differ
/// in: the best case of each kind.
struct L2Kind {
  const char* id;
  const char* subject;
  const char* instruction;
  bool both_partitions;
  const char* sharing;
};
constexpr L2Kind l2_kinds[] = {
    {"l2.bandwidth_cg", "L2, ld.global.cg", "ld.global.cg", false, "each warp its part"},
    {"l2.bandwidth_no_allocate", "L2, L1::no_allocate", "ld.global.L1::no_allocate", false,
     "each warp its part"},
    {"l2.bandwidth_cg_large_set", "L2, ld.global.cg, 70 % of it in use", "ld.global.cg", true,
     "each warp its part"},
    {"l2.bandwidth_no_allocate_large_set", "L2, L1::no_allocate, 70 % of it in use",
     "ld.global.L1::no_allocate", true, "each warp its part"},
    {"l2.bandwidth_cg_shared_set", "L2, ld.global.cg, every SM reads everything", "ld.global.cg",
     false, "every SM everything"},
    {"l2.bandwidth_no_allocate_shared_set", "L2, L1::no_allocate, every SM reads everything",
     "ld.global.L1::no_allocate", false, "every SM everything"},
};

void add_l2_kinds(std::vector<Fact>& facts, std::span<const Entry> entries) {
  for (const L2Kind& kind : l2_kinds) {
    std::vector<const Entry*> cases = select(entries, {{"sweep", "level"},
                                                       {"level", "L2"},
                                                       {"operation", "load"},
                                                       {"instruction", kind.instruction},
                                                       {"width (B)", std::int64_t{16}},
                                                       {"sharing", kind.sharing}});
    std::erase_if(cases, [&](const Entry* e) {
      return (extra(*e, "share_of_l2").value_or(0) > 0.5) != kind.both_partitions;
    });
    const Entry* entry = best(cases);
    facts.push_back(entry == nullptr
                        ? missing_fact(kind.id, kind.subject, "bandwidth", "B/s", left_out)
                        : fact_of(*entry, kind.id, kind.subject, "bandwidth",
                                  method_of(*entry, cases.size())));
  }
}

/// The bytes that DRAM itself counted over the time without a counter.
void add_by_counter(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const char* id = "dram.bandwidth_by_counter";
  const Entry* entry = best(candidates(entries, levels[5], "load"));
  const auto missing = [&](std::string reason) {
    facts.push_back(missing_fact(id, "DRAM", "bandwidth by counter", "B/s", std::move(reason)));
  };
  if (entry == nullptr) return missing(left_out);
  const Counter* counter = find_counter(*entry, "dram_read_bytes");
  if (counter == nullptr || !counter->value) {
    return missing(counter == nullptr || counter->reason.empty()
                       ? "DRAM's bytes were not counted in this run"
                       : counter->reason);
  }
  const auto moved = extra(*entry, "bytes_moved");
  if (!moved || !(*moved > 0)) return missing("the case does not say how much it loads");
  const double ratio = *counter->value / *moved;
  Fact fact = fact_of(*entry, id, "DRAM", "bandwidth by counter",
                      fmt::format("bytes that DRAM counted over separately measured time; {:.4f} of "
                                  "the bytes loaded",
                                  ratio));
  *fact.value *= ratio;
  if (fact.interval) {
    fact.interval->low *= ratio;
    fact.interval->high *= ratio;
  }
  facts.push_back(std::move(fact));
}

}  // namespace

Fact missing_fact(std::string id, std::string subject, std::string quantity, std::string unit,
                  std::string reason) {
  Fact fact;
  fact.id = std::move(id);
  fact.subject = std::move(subject);
  fact.quantity = std::move(quantity);
  fact.unit = std::move(unit);
  fact.reason = std::move(reason);
  return fact;
}

std::vector<Fact> level_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const Level& level : levels) {
    add_loads(facts, entries, level);
    add_stores(facts, entries, level);
  }
  add_clusters(facts, entries);
  add_l2_kinds(facts, entries);
  add_by_counter(facts, entries);
  return facts;
}

}  // namespace fathom::memory_bandwidth
