#include "probes/memory_bandwidth/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "results/format.h"
#include "results/query.h"
#include "results/rows.h"

namespace fathom::memory_bandwidth {
namespace {

void add_clusters(std::vector<Fact>& facts, std::span<const Entry> entries) {
  for (const std::int64_t size : {2, 4, 8, 16}) {
    const FactName name{fmt::format("dsmem.bandwidth_cluster_{}", size),
                        fmt::format("distributed shared memory, cluster of {}", size), "bandwidth"};
    facts.push_back(bandwidth_fact(select(entries, {{"sweep", "level"},
                                                    {"level", "distributed shared"},
                                                    {"operation", "load"},
                                                    {"width (B)", std::int64_t{16}},
                                                    {"cluster size", size}}),
                                   name, no_clusters));
  }
}

/// What the L2 gives by instruction, working set and sharing, which is what published figures
/// differ in: the best case of each kind.
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
    {"l2.bandwidth_many_blocks", "L2, ld.global.cg, a tile a warp, many more blocks than fit",
     "ld.global.cg", false, "each warp one tile"},
};

/// "; the L2 read 81.4 % of the sectors loaded, ...", where that is fewer.
std::string merged_note(const Entry& entry) {
  constexpr double as_many = 0.99;
  const auto share = read_by_l2(entry);
  if (!share || *share >= as_many) return "";
  return fmt::format(
      "; the L2 read {} of the sectors loaded: what several SMs asked for at once it read once",
      format_percent(*share));
}

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
    facts.push_back(
        bandwidth_fact(cases, {kind.id, kind.subject, "bandwidth"}, left_out, merged_note));
  }
}

/// The bytes that DRAM itself counted over the time without a counter.
void add_by_counter(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const FactName name{"dram.bandwidth_by_counter", "DRAM", "bandwidth by counter", "B/s"};
  const Entry* entry = best(select(entries, {{"sweep", "level"},
                                             {"level", "DRAM"},
                                             {"operation", "load"},
                                             {"width (B)", std::int64_t{16}}}));
  const auto missing = [&](std::string reason) {
    facts.push_back(missing_fact(name, std::move(reason)));
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
  Fact fact =
      fact_of(*entry, name,
              fmt::format("bytes that DRAM counted over separately measured time; {:.4f} of "
                          "the bytes loaded",
                          ratio));
  scale(fact, ratio);
  facts.push_back(std::move(fact));
}

}  // namespace

std::vector<Fact> kind_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  add_clusters(facts, entries);
  add_l2_kinds(facts, entries);
  add_by_counter(facts, entries);
  return facts;
}

namespace {

struct Saturation {
  const char* id;
  const char* level;  ///< axis
  const char* quantity;
  const char* unit;
  const char* sweep;
  const char* axis;
  double share;  ///< of the best that counts as saturated
};

constexpr Saturation saturations[] = {
    {"l2.saturating_sms", "L2", "SMs that saturate it", "SMs", "SMs", "SMs", 0.98},
    {"dram.saturating_sms", "DRAM", "SMs that saturate it", "SMs", "SMs", "SMs", 0.98},
    {"l2.bytes_in_flight", "L2", "bytes in flight for 95 % of the best", "B", "in flight",
     "bytes in flight (B)", 0.95},
    {"dram.bytes_in_flight", "DRAM", "bytes in flight for 95 % of the best", "B", "in flight",
     "bytes in flight (B)", 0.95},
};

/// The best entry at each place of the axis: several shapes of grid have as many bytes in flight.
std::map<double, const Entry*> best_by(std::span<const Entry> entries, const Saturation& s) {
  std::map<double, const Entry*> result;
  for (const Entry* entry : select(entries, {{"sweep", s.sweep}, {"level", s.level}})) {
    const AxisValue* value = find_axis(*entry, s.axis);
    const auto* x = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    if (x == nullptr || !entry->metric.value) continue;
    const Entry*& known = result[static_cast<double>(*x)];
    if (known == nullptr || *entry->metric.value > *known->metric.value) known = entry;
  }
  return result;
}

/// Little's law from the sweep itself: the time of a load where least is in flight, times the best
/// bandwidth. "; Little's law from the least loaded point: 520 ns x 4.6 TB/s = 2.3 MiB".
std::string little(const std::map<double, const Entry*>& points, double best) {
  const auto& [bytes, entry] = *points.begin();
  const double latency = bytes / *entry->metric.value;
  return fmt::format("; Little's law from the least loaded point: {} x {} = {}",
                     format_time(latency), format_bandwidth(best), format_bytes(latency * best));
}

Fact saturation_fact(std::span<const Entry> entries, const Saturation& s) {
  const FactName name{s.id, s.level, s.quantity, s.unit, Better::lower};
  const std::map<double, const Entry*> points = best_by(entries, s);
  constexpr std::size_t fewest = 4;
  if (points.size() < fewest) return missing_fact(name, left_out);
  double best = 0;
  for (const auto& [x, entry] : points) best = std::max(best, *entry->metric.value);
  const auto enough = std::ranges::find_if(
      points, [&](const auto& point) { return *point.second->metric.value >= s.share * best; });
  if (enough == points.begin()) {
    return missing_fact(name, fmt::format("the least that was measured, {}, is enough already",
                                          format_quantity(points.begin()->first, s.unit)));
  }
  Fact fact = named_fact(name);
  fact.value = enough->first;
  fact.interval = Interval{std::prev(enough)->first, enough->first, 1,
                           "between neighbouring points of the sweep"};
  fact.method = fmt::format("fewest of {} with {} of the best bandwidth, {}", points.size(),
                            format_percent(s.share), format_bandwidth(best));
  if (std::string(s.unit) == "B") fact.method += little(points, best);
  fact.repeats = static_cast<int>(enough->second->samples.size());
  fact.evidence = {std::prev(enough)->second->name, enough->second->name};
  return fact;
}

}  // namespace

std::vector<Fact> saturation_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const Saturation& s : saturations) facts.push_back(saturation_fact(entries, s));
  return facts;
}

}  // namespace fathom::memory_bandwidth
