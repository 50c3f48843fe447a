#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "results/findings.h"
#include "results/text.h"

namespace fathom::memory_bandwidth {
namespace {

using I = std::int64_t;

/// The share of the loaded sectors that the L2 read; NaN where either was not counted.
double read_by_l2(const Entry& entry) {
  const double loaded = counter_of("global_load_sectors")(entry);
  return loaded > 0 ? counter_of("l2_read_sectors")(entry) / loaded : std::nan("");
}

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
  if (const double share = read_by_l2(entry); !std::isnan(share)) return share >= enough;
  return !matches(entry, {{"sharing", "every SM everything"}});
}

void add_timing(Fact& fact, const Entry& entry) {
  fact.method +=
      entry.timing.mode == "in-kernel clock" ? ", SM clocks x SMs x SM clock" : ", timed by events";
}

/// Per SM and clock: by the clocks that the SMs read, else by the one that the driver reported.
void take_per_clock(Fact& fact, const Entry& entry) {
  add_timing(fact, entry);
  const auto extra = [&](const char* name) { return extra_of(name)(entry); };
  const double own = extra("bytes_per_clock"), bound = extra("sm_bound_bytes_per_clock");
  const double reported =
      axis_of("SMs")(entry) * entry.telemetry.sm_clock_hz.median.value_or(std::nan(""));
  const double low = extra("bytes_per_clock_low"), high = extra("bytes_per_clock_high");
  if (!std::isnan(own)) {
    fact.method += ", SM clocks";
    fact.value = own;
    fact.interval.reset();
    if (!std::isnan(low + high))
      fact.interval = Interval{low, high, 0.95, "order statistics of the launches"};
  } else if (reported > 0) {
    fact.method += ", over SMs x the SM clock reported";
    *fact.value /= reported;
    if (fact.interval) fact.interval->low /= reported;
    if (fact.interval) fact.interval->high /= reported;
  } else {
    fact = unmeasured(fact, "no SM clock was read");
    return;
  }
  fact.bound.reset();
  if (std::isnan(bound)) return;
  fact.bound = Bound{bound, "bytes that one SM can move in a clock"};
  // What the multiply-adds could take: nobody says what the register file can give.
  if (fact.id.starts_with("registers"))
    fact.method += fmt::format(
        "; as measured, {:.2f} of the three operands a clock and lane, none of them from a reuse "
        "cache; what the register file can give is not published",
        3 * *fact.value / bound);
}

void add_merged(Fact& fact, const Entry& entry) {
  constexpr double as_many = 0.99;
  add_timing(fact, entry);
  const double share = read_by_l2(entry);
  if (!(share < as_many)) return;
  fact.method += fmt::format(
      "; the L2 read {} of the sectors loaded: what several SMs asked for at once it read once",
      format_percent(share));
}

/// The bytes that DRAM itself counted over the time without a counter.
void take_counted(Fact& fact, const Entry& entry) {
  const Counter* counter = find_counter(entry, "dram_read_bytes");
  const double ratio = counter_of("dram_read_bytes")(entry) / extra_of("bytes_moved")(entry);
  if (std::isnan(ratio)) {
    fact = unmeasured(fact, counter == nullptr || counter->reason.empty()
                                ? "DRAM's bytes were not counted in this run"
                                : counter->reason);
    return;
  }
  fact.method = fmt::format(
      "bytes that DRAM counted over separately measured time; {:.4f} of the bytes loaded", ratio);
  scale(fact, ratio);
}

std::vector<FactRow> fact_rows() {
  constexpr const char* no_clusters = "this GPU has no clusters, or its cases were left out";
  std::vector<FactRow> rows;
  // The best of a level's cases: "ld.global.cg, 16 bytes a lane, 32 warps an SM, best of 7 cases".
  const auto add = [&](Fact name, const std::string& level, const char* operation,
                       const char* absent = left_out, const AxisFilter& more = {}) -> FactRow& {
    name.unit = "B/s";
    FactRow& row = rows.emplace_back(FactRow{std::move(name)});
    row.where = AxisFilter{{"sweep", "level"},
                           {"level", level},
                           {"operation", operation},
                           {"width (B)", level == "registers" ? I{4} : I{16}}} +
                more;
    row.method =
        "{instruction}, {width (B)} bytes a lane, {warps per SM} warps an SM[, best of {rivals} "
        "cases]";
    row.absent = absent;
    row.pick = Pick::best;
    row.change = add_timing;
    return row;
  };
  // Every level by operation, in bytes per second and, of loads, in bytes per clock and SM.
  for (const auto& [name, subject, level, absent, no_stores] :
       {std::tuple{"registers", "registers", "registers", left_out,
                   "an instruction writes one result for the operands it reads, so that no mix but "
                   "its own can be measured"},
        {"shared", "shared memory", "shared", left_out, left_out},
        {"dsmem", "distributed shared memory", "distributed shared", no_clusters, no_clusters},
        {"l1", "L1", "L1", left_out,
         "the L1 writes through: what stores reach is the L2's store bandwidth"},
        {"l2", "L2", "L2", left_out, left_out},
        {"dram", "DRAM", "DRAM", left_out, left_out}}) {
    const std::string id = name;
    FactRow loads = add({id + ".bandwidth", subject, "bandwidth"}, level, "load", absent);
    if (id == "l2")
      loads.only =
          rows.back().only = [](const Entry& e) { return passes_by_l1(e) && all_read_by_l2(e); };
    loads.name = {id + ".bytes_per_clock", subject, "bytes per clock and SM", "B/clk"};
    loads.change = take_per_clock;
    rows.push_back(std::move(loads));
    add({id + ".store_bandwidth", subject, "store bandwidth"}, level, "store", no_stores);
    add({id + ".mixed_bandwidth", subject, "bandwidth of loads and stores, 1:1"}, level, "copy",
        no_stores);
  }
  for (const I size : {2, 4, 8, 16})
    add({fmt::format("dsmem.bandwidth_cluster_{}", size),
         fmt::format("distributed shared memory, cluster of {}", size), "bandwidth"},
        "distributed shared", "load", no_clusters, {{"cluster size", size}});
  // By instruction, working set and sharing, which is what published figures differ in.
  const auto add_kind = [&](const std::string& id, const std::string& how, const char* instruction,
                            const char* sharing, bool both_partitions) {
    FactRow& row = add({"l2.bandwidth_" + id, "L2, " + how, "bandwidth"}, "L2", "load", left_out,
                       {{"instruction", instruction}, {"sharing", sharing}});
    row.change = add_merged;
    row.only = [=](const Entry& e) {
      return (extra_of("share_of_l2")(e) > 0.5) == both_partitions;
    };
  };
  for (const auto& [id, how, sharing, both] :
       {std::tuple{"", "", "each warp its part", false},
        {"_large_set", ", 70 % of it in use", "each warp its part", true},
        {"_shared_set", ", every SM reads everything", "every SM everything", false}}) {
    add_kind(std::string("cg") + id, std::string("ld.global.cg") + how, "ld.global.cg", sharing,
             both);
    add_kind(std::string("no_allocate") + id, std::string("L1::no_allocate") + how,
             "ld.global.L1::no_allocate", sharing, both);
  }
  add_kind("many_blocks", "ld.global.cg, a tile a warp, many more blocks than fit", "ld.global.cg",
           "each warp one tile", false);
  add({"dram.bandwidth_by_counter", "DRAM", "bandwidth by counter"}, "DRAM", "load").change =
      take_counted;
  return rows;
}

/// How many SMs, or how many bytes in flight, give this share of a level's best bandwidth. Needs a
/// sweep that covers it: the fewest measured must not be enough.
Fact saturation_fact(std::span<const Entry> entries, const Fact& name, const char* sweep,
                     const std::string& axis, double share) {
  // The best entry at each place: several shapes of grid have as many bytes in flight.
  std::map<double, const Entry*> points;
  double best = 0;
  for (const Entry* entry : select(entries, {{"sweep", sweep}, {"level", name.subject}})) {
    const double bandwidth = metric_of(*entry);
    if (std::isnan(bandwidth)) continue;
    const Entry*& known = points[axis_of(axis)(*entry)];
    if (known == nullptr || bandwidth > metric_of(*known)) known = entry;
    best = std::max(best, bandwidth);
  }
  constexpr std::size_t fewest = 4;
  if (points.size() < fewest) return unmeasured(name, left_out);
  const auto enough = std::ranges::find_if(
      points, [&](const auto& point) { return metric_of(*point.second) >= share * best; });
  const auto& [least, least_loaded] = *points.begin();
  if (enough == points.begin())
    return unmeasured(name, fmt::format("the least that was measured, {}, is enough already",
                                        format_quantity(least, name.unit)));
  const auto& [below, entry_below] = *std::prev(enough);
  Fact fact = name;
  fact.value = enough->first;
  fact.interval = Interval{below, enough->first, 1, "between neighbouring points of the sweep"};
  fact.method = fmt::format("fewest of {} with {} of the best bandwidth, {}", points.size(),
                            format_percent(share), format_bandwidth(best));
  if (name.unit == "B") {
    const double latency = least / metric_of(*least_loaded);
    fact.method +=
        fmt::format("; Little's law from the least loaded point: {} x {} = {}",
                    format_time(latency), format_bandwidth(best), format_bytes(latency * best));
  }
  fact.repeats = static_cast<int>(enough->second->samples.size());
  fact.evidence = {entry_below->name, enough->second->name};
  return fact;
}

std::vector<Fact> saturation_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const auto& [id, level] :
       {std::pair{"l2.saturating_sms", "L2"}, {"dram.saturating_sms", "DRAM"}})
    facts.push_back(saturation_fact(
        entries, {id, level, "SMs that saturate it", "SMs", Better::lower}, "SMs", "SMs", 0.98));
  for (const auto& [id, level] :
       {std::pair{"l2.bytes_in_flight", "L2"}, {"dram.bytes_in_flight", "DRAM"}})
    facts.push_back(saturation_fact(
        entries, {id, level, "bytes in flight for 95 % of the best", "B", Better::lower},
        "in flight", "bytes in flight (B)", 0.95));
  return facts;
}

std::vector<View> views(std::span<const Entry> entries) {
  const auto against = [](const char* title, Where where, const char* x,
                          std::vector<std::string> series, const PlotStyle& style,
                          const char* note = "") {
    return plot(title, std::move(where), x, "Bandwidth (B/s)", std::move(series), style, note);
  };
  View footprint = against(
      "Bandwidth against working set, 16 bytes a lane",
      {{"sweep", {"footprint"}}, {"width (B)", {16}}}, "working set (B)",
      {"operation", "instruction"}, {.x_log2 = true, .overview = true},
      "All SMs, each its part of the working set. Plain loads may hit in the L1s, which together "
      "hold about as much as the L2. The regimes drawn are those of ld.global.cg.");
  // The curve that cannot hit in the L1: the L2's, its end, DRAM's.
  constexpr std::size_t fewest = 6;
  const AxisFilter past_l1{{"sweep", "footprint"},
                           {"operation", "load"},
                           {"instruction", "ld.global.cg"},
                           {"width (B)", 16}};
  const std::vector<CurvePoint> curve = curve_of(select(entries, past_l1), "working set (B)");
  if (curve.size() >= fewest)
    draw_regimes(footprint, segment(curve, {.resolution = 0.02}), "B", "B/s");
  return {footprint,
          against("Loads against working set, by access width",
                  {{"sweep", {"footprint"}}, {"operation", {"load"}}}, "working set (B)",
                  {"instruction", "width (B)"}, {.x_log2 = true}),
          against("Loads by number of SMs", {{"sweep", {"SMs"}}}, "SMs", {"level"}, {.bound = true},
                  "ld.global.cg, 16 bytes a lane, 32 warps on each SM with four loads in flight "
                  "each. SMs in the order of their numbers, even ones first: one of each TPC, "
                  "round robin over the GPCs. All have the same share of the work, so that the "
                  "slowest, in the GPC with most of them, tells the time."),
          against("Loads by bytes in flight", {{"sweep", {"in flight"}}}, "bytes in flight (B)",
                  {"level", "loads in flight"}, {.x_log2 = true},
                  "All SMs; from 1 to 64 warps on each, every thread with 1 to 8 loads of 16 bytes "
                  "in flight."),
          table("Bandwidth of each level", {{"sweep", {"level"}}},
                {"level", "operation", "instruction", "width (B)", "cluster size", "warps per SM",
                 "loads in flight", "sharing", "working set (B)", "metric", "interval", "of_bound",
                 "extra:bytes_per_clock", "counter:l1_hit_rate", "counter:l2_hit_rate", "verdict"},
                "Copies count the bytes read and the bytes written. Bytes per clock are of one SM, "
                "by the clocks that it read. Where each warp has its part the blocks are one wave "
                "with equal shares; where it has one tile they are many more, and each SM takes "
                "the next when it is done.")};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  return evaluate(
      {.facts = fact_rows(),
       .more_facts = {saturation_facts},
       .answer = "Loads move {shared.bandwidth} from shared memory, {l1.bandwidth} from the L1s, "
                 "{l2.bandwidth} from the L2 and {dram.bandwidth} from DRAM; DRAM needs "
                 "{dram.saturating_sms} and {dram.bytes_in_flight} in flight to be saturated.",
       .views = views(entries)},
      entries);
}

}  // namespace fathom::memory_bandwidth
