#include "probes/memory_latency/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/facts.h"
#include "results/format.h"
#include "results/query.h"
#include "results/statistics.h"
#include "probes/two_groups.h"

namespace fathom::memory_latency {
namespace {

struct FactLevel {
  const char* id;
  const char* subject;
  const char* level;
  const char* instruction;
  const char* absent = left_out;  ///< why there may be no entry
};

constexpr FactLevel levels[] = {
    {"shared.latency", "shared memory", "shared", "ld.shared"},
    {"l1.latency", "L1", "L1", "ld.global"},
    {"l1.read_only_latency", "L1, read-only loads", "L1", "ld.global.nc"},
    {"l2.latency", "L2", "L2", "ld.global.cg"},
    {"dram.latency", "DRAM", "DRAM", "ld.global.cg"},
    {"const.l1.latency", "constant L1", "constant L1", "ld.const"},
    {"const.l1_5.latency", "constant L1.5", "constant L1.5", "ld.const"},
    {"const.l2.latency", "constants in the L2", "constant L2", "ld.const"},
    {"param.latency", "kernel parameters, constant L1", "parameters L1", "ld.param"},
    {"param.l1_5_latency", "kernel parameters, constant L1.5", "parameters L1.5", "ld.param"},
    {"param.first_use_latency", "kernel parameters, first use", "parameters first use", "ld.param"},
    {"texture.latency", "texture path, L1", "texture L1", "tex1Dfetch"},
    {"texture.l2_latency", "texture path, L2", "texture L2", "tex1Dfetch"},
    {"shared.atomic_add_latency", "shared memory, atomic add", "shared", "atom.shared.add"},
    {"shared.atomic_cas_latency", "shared memory, compare and swap", "shared", "atom.shared.cas"},
    {"l2.atomic_add_latency", "L2, atomic add", "L2", "atom.global.add"},
    {"l2.atomic_cas_latency", "L2, compare and swap", "L2", "atom.global.cas"},
    {"host.latency", "pinned host memory", "host", "ld.global.cv"},
    {"peer.latency", "another GPU's memory", "peer", "ld.global.cv",
     "there is no other GPU whose memory this one can read, or its cases were left out"},
};

const Entry* entry_of(std::span<const Entry> entries, const FactLevel& level, const char* method) {
  return find_measured(entries, {{"sweep", "latency"},
                                 {"level", level.level},
                                 {"instruction", level.instruction},
                                 {"method", method}});
}

Fact latency_of(const Entry& entry, std::string id, std::string subject) {
  return fact_of(entry, {std::move(id), std::move(subject), "latency"},
                 "unrolled chase bracketed by clock64");
}

Fact missing_latency(std::string id, std::string subject, std::string reason) {
  return missing_fact({std::move(id), std::move(subject), "latency", "cycles", Better::lower},
                      std::move(reason));
}

constexpr const char* in_time = "latency in time";

std::string time_id(const std::string& id) { return id + "_time"; }

/// The same in seconds, by the clock that the kernels saw.
Fact in_seconds(Fact fact, const Entry& entry) {
  const auto nanoseconds = entry.extras.find("latency_ns");
  fact.id = time_id(fact.id);
  fact.quantity = in_time;
  fact.unit = "s";
  if (nanoseconds == entry.extras.end()) {
    return missing_fact({fact.id, fact.subject, fact.quantity, fact.unit, Better::lower},
                        "the kernels' global timer stood still");
  }
  const double seconds_per_cycle = nanoseconds->second * 1e-9 / *fact.value;
  fact.value = nanoseconds->second * 1e-9;
  if (fact.interval) {
    fact.interval->low *= seconds_per_cycle;
    fact.interval->high *= seconds_per_cycle;
  }
  fact.method += "; the SM clock by the global timer in the same kernels";
  return fact;
}

void add_level(std::vector<Fact>& facts, std::span<const Entry> entries, const FactLevel& level) {
  const Entry* mean = entry_of(entries, level, "unrolled chase");
  if (mean == nullptr) {
    facts.push_back(missing_latency(level.id, level.subject, level.absent));
    facts.push_back(missing_fact({time_id(level.id), level.subject, in_time, "s", Better::lower},
                                 level.absent));
    return;
  }
  Fact fact = latency_of(*mean, level.id, level.subject);
  if (const Entry* each = entry_of(entries, level, "single loads")) {
    fact.method +=
        fmt::format("; single loads, less the empty bracket: {:.1f} cycles", *each->metric.value);
    fact.evidence.push_back(each->name);
  }
  facts.push_back(fact);
  facts.push_back(in_seconds(fact, *mean));
}

/// The two groups of single loads from the L2, if there are two.
void add_near_and_far(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const auto add = [&](bool near, const Entry* each, std::string reason) {
    const char* name = near ? "near" : "far";
    const std::string id = fmt::format("l2.{}_latency", name);
    const std::string subject = fmt::format("L2, {} lines", name);
    if (!reason.empty()) {
      facts.push_back(missing_latency(id, subject, std::move(reason)));
      return;
    }
    Fact fact = latency_of(*each, id, subject);
    fact.value = each->extras.at(near ? "low_group" : "high_group");
    fact.interval.reset();
    fact.method =
        fmt::format("single loads, {} of their two groups (Otsu's cut, separation {:.2f})",
                    near ? "the faster" : "the slower", each->extras.at("group_separation"));
    facts.push_back(fact);
  };
  const Entry* each = find_measured(entries, {{"sweep", "latency"},
                                              {"level", "L2"},
                                              {"instruction", "ld.global.cg"},
                                              {"method", "single loads"}});
  std::string reason;
  if (each == nullptr || !each->extras.contains("group_separation")) {
    each = nullptr;
    reason = left_out;
  } else if (each->extras.at("group_separation") < bimodal_separation) {
    reason = fmt::format(
        "single loads fall into no two groups: from {:.0f} to {:.0f} cycles (p5 to "
        "p95), of whose variance two groups would hold {:.2f}",
        each->extras.at("p5"), each->extras.at("p95"), each->extras.at("group_separation"));
  }
  add(true, each, reason);
  add(false, each, reason);
}

/// What a chase through another block's shared memory says, per entry: cycles, or seconds.
using OfEntry = std::optional<double> (*)(const Entry&);

std::optional<double> cycles_of(const Entry& entry) { return entry.metric.value; }

std::optional<double> seconds_of(const Entry& entry) {
  const auto nanoseconds = entry.extras.find("latency_ns");
  if (nanoseconds == entry.extras.end()) return std::nullopt;
  return nanoseconds->second * 1e-9;
}

/// Median over the distances of the chases that `filter` chooses; the own block is at distance 0.
Fact over_distances(std::span<const Entry> entries, AxisFilter filter, std::string id,
                    std::string subject, bool in_cycles = true) {
  const OfEntry of = in_cycles ? cycles_of : seconds_of;
  filter.insert(filter.end(), {{"sweep", "distance"}, {"instruction", "ld.shared::cluster"}});
  std::vector<double> latencies;
  Fact fact = missing_fact({std::move(id), std::move(subject), in_cycles ? "latency" : in_time,
                            in_cycles ? "cycles" : "s", Better::lower},
                           "this GPU runs no such cluster (none before compute capability 9.0), or "
                           "its cases were left out");
  for (const Entry* entry : select(entries, filter)) {
    const auto latency = of(*entry);
    if (!latency || matches(*entry, {{"distance", std::int64_t{0}}})) continue;
    latencies.push_back(*latency);
    fact.evidence.push_back(entry->name);
    fact.repeats += static_cast<int>(entry->samples.size());
  }
  if (latencies.empty()) return fact;
  fact.value = median(latencies);
  fact.interval = median_interval(latencies);
  fact.reason.clear();
  const auto [low, high] = std::ranges::minmax(latencies);
  fact.method =
      fmt::format("unrolled chase, median of {} pairs of blocks ({} to {})", latencies.size(),
                  format_quantity(low, fact.unit), format_quantity(high, fact.unit));
  return fact;
}

void add_distances(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const char* subject = "distributed shared memory";
  facts.push_back(over_distances(entries, {}, "dsmem.latency", subject));
  facts.push_back(over_distances(entries, {}, time_id("dsmem.latency"), subject, false));
  for (const std::int64_t size : {2, 4, 8, 16}) {
    facts.push_back(over_distances(entries, {{"cluster size", size}},
                                   fmt::format("dsmem.latency_cluster_{}", size),
                                   fmt::format("{}, cluster of {}", subject, size)));
  }
  for (const char* operation : {"add", "cas"}) {
    const std::string id = fmt::format("dsmem.atomic_{}_latency", operation);
    const std::string atomic =
        fmt::format("{}, {}", subject,
                    operation == std::string_view("cas") ? "compare and swap" : "atomic add");
    const Entry* entry = find_measured(
        entries, {{"sweep", "distance"},
                  {"instruction", fmt::format("atom.shared::cluster.{}", operation)}});
    facts.push_back(
        entry == nullptr
            ? missing_latency(id, atomic, "this GPU has no clusters, or its cases were left out")
            : latency_of(*entry, id, atomic));
  }
}

}  // namespace

std::vector<Fact> latency_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const FactLevel& level : levels) add_level(facts, entries, level);
  add_near_and_far(facts, entries);
  add_distances(facts, entries);
  return facts;
}

}  // namespace fathom::memory_latency
