#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/memory_latency/facts.h"
#include "results/text.h"

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

constexpr const char *each_alone = "single loads", *chased = "unrolled chase bracketed by clock64";

Fact latency_name(const std::string& id, std::string subject, bool time = false) {
  if (time) return {id + "_time", std::move(subject), "latency in time", "s", Better::lower};
  return {id, std::move(subject), "latency", "cycles", Better::lower};
}

double seconds_of(const Entry& entry) { return extra_of("latency_ns")(entry) * 1e-9; }

void add_level(std::vector<FactRow>& rows, std::span<const Entry> entries, const FactLevel& level) {
  const Entry* each = find_measured(entries, at(level.level, level.instruction, each_alone));
  for (const bool time : {false, true}) {
    FactRow& row =
        rows.emplace_back(FactRow{latency_name(level.id, level.subject, time),
                                  at(level.level, level.instruction), chased, level.absent});
    row.change = [=](Fact& fact, const Entry& entry) {
      if (each != nullptr) {
        fact.method += fmt::format("; single loads, less the empty bracket: {:.1f} cycles",
                                   *each->metric.value);
        fact.evidence.push_back(each->name);
      }
      if (!time) return;
      const double seconds = seconds_of(entry);
      if (std::isnan(seconds)) {
        fact = unmeasured(fact, "the kernels' global timer stood still");
        return;
      }
      scale(fact, seconds / *fact.value);
      fact.value = seconds;
      fact.method += "; the SM clock by the global timer in the same kernels";
    };
  }
}

void add_near_and_far(std::vector<FactRow>& rows) {
  for (const bool near : {true, false}) {
    const char* name = near ? "near" : "far";
    FactRow& row = rows.emplace_back(
        FactRow{latency_name(fmt::format("l2.{}_latency", name), fmt::format("L2, {} lines", name)),
                at("L2", "ld.global.cg", each_alone)});
    row.change = [=](Fact& fact, const Entry& entry) {
      const double separation = extra_of("group_separation")(entry);
      if (!(separation >= bimodal_separation)) {
        fact = unmeasured(
            fact,
            std::isnan(separation)
                ? left_out
                : fmt::format("single loads fall into no two groups: from {:.0f} to {:.0f} cycles "
                              "(p5 to p95), of whose variance two groups would hold {:.2f}",
                              extra_of("p5")(entry), extra_of("p95")(entry), separation));
        return;
      }
      fact.value = entry.extras.at(near ? "low_group" : "high_group");
      fact.interval.reset();
      fact.method =
          fmt::format("single loads, {} of their two groups (Otsu's cut, separation {:.2f})",
                      near ? "the faster" : "the slower", separation);
    };
  }
}

/// Over the distances of the chases through another block's shared memory; 0 is the own block.
void add_distances(std::vector<FactRow>& rows) {
  const std::string subject = "distributed shared memory";
  const auto add = [&](Fact name, const Figure& figure, std::int64_t cluster = 0) {
    FactRow& row = rows.emplace_back(FactRow{std::move(name)});
    row.where = {{"sweep", "distance"}, {"instruction", "ld.shared::cluster"}};
    if (cluster > 0) row.where.emplace_back("cluster size", cluster);
    row.method = "unrolled chase, median of {measured} pairs of blocks ({low} to {high})";
    row.absent =
        "this GPU runs no such cluster (none before compute capability 9.0), or its cases were "
        "left out";
    row.pick = Pick::median;
    row.only = [](const Entry& e) { return axis_of("distance")(e) != 0; };
    row.figure = figure;
  };
  add(latency_name("dsmem.latency", subject), metric_of);
  add(latency_name("dsmem.latency", subject, true), seconds_of);
  for (const std::int64_t size : {2, 4, 8, 16})
    add(latency_name(fmt::format("dsmem.latency_cluster_{}", size),
                     fmt::format("{}, cluster of {}", subject, size)),
        metric_of, size);
  for (const auto& [id, words] : {std::pair{"add", ", atomic add"}, {"cas", ", compare and swap"}})
    rows.push_back(
        {latency_name(fmt::format("dsmem.atomic_{}_latency", id), subject + words),
         {{"sweep", "distance"}, {"instruction", fmt::format("atom.shared::cluster.{}", id)}},
         chased,
         "this GPU has no clusters, or its cases were left out"});
}

std::vector<FactRow> latency_rows(std::span<const Entry> entries) {
  std::vector<FactRow> rows;
  for (const FactLevel& level : levels) add_level(rows, entries, level);
  add_near_and_far(rows);
  add_distances(rows);
  return rows;
}

/// The cases carry what the driver says.
std::vector<Fact> driver_size_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const auto& [id, subject, level, extra, method] :
       {std::tuple{"registers.size", "registers", "shared", register_bytes,
                   "the driver's number of 4-byte registers of an SM"},
        {"shared.size", "shared memory", "shared", shared_bytes,
         "the driver's most shared memory of an SM, with what it keeps for itself of each block"},
        {"dram.size", "DRAM", "DRAM", memory_bytes,
         "the memory that the driver lets programs have"}}) {
    Fact& fact = facts.emplace_back(Fact{id, subject, "size", "B"});
    fact.reason = "the cases that carry what the driver says were left out of this run or failed";
    for (const Entry* entry : select(entries, {{"sweep", "latency"}, {"level", level}})) {
      if (!entry->metric.value || !entry->extras.contains(extra)) continue;
      fact.reason.clear();
      fact.value = entry->extras.at(extra);
      fact.method = fmt::format("not measured: {}", method);
      fact.repeats = 1;
      fact.evidence = {entry->name};
      fact.bound = entry->bound;
      break;
    }
  }
  return facts;
}

View curve_view(const char* title, Where where, const char* x_label,
                std::vector<std::string> series, const char* note = "", bool overview = false,
                const char* x = working_set) {
  return plot(title, std::move(where), x, "Latency (cycles)", std::move(series),
              {.x_label = x_label, .x_log2 = true, .overview = overview}, note);
}

View with_regimes(View view, const Curve& curve, const std::vector<Fact>& facts,
                  const std::vector<std::pair<std::string, const char*>>& sizes) {
  if (curve.cut) draw_regimes(view, *curve.cut, "B", "cycles");
  view.markers.clear();
  for (const auto& [id, words] : sizes) {
    const auto fact = std::ranges::find(facts, id, &Fact::id);
    if (fact == facts.end() || !fact->value) continue;
    view.markers.push_back({*fact->value, fmt::format("{} {}", words, format_bytes(*fact->value))});
  }
  return view;
}

std::vector<View> views(std::span<const Entry> entries, const std::vector<Fact>& facts) {
  View l2 = with_regimes(
      curve_view("Latency against working set, L2 and DRAM",
                 {{"sweep", {"size"}}, {"level", {"L2"}}}, "Working set", {"level"},
                 "Loads past the L1. Grey: the regimes that the curve falls into. A working set "
                 "beyond the near partition of the L2 has lines in the far one, one beyond the L2 "
                 "misses to DRAM.",
                 true),
      curve(entries, {{"sweep", "size"}, {"level", "L2"}}, RampScale::share), facts,
      {{"l2.partition", "partition"}, {"l2.size", "L2"}});
  return {table("Latency inside each level", {{"sweep", {"latency"}}},
                {"level", "instruction", "method", "working set (B)", "metric", "interval",
                 "extra:latency_ns", "extra:p5", "extra:p50", "extra:p95", "verdict"},
                "Cycles of the SM clock; p5 to p95 over single loads."),
          curve_view("Latency against working set, L1 by carve-out",
                     {{"sweep", {"size"}}, {"level", {"L1"}}}, "Working set", {"carve-out (KiB)"},
                     "Loads that may hit in the L1, one line for each carve-out of shared memory; "
                     "beyond the L1 they come from the L2.",
                     true),
          l2,
          curve_view("Latency against working set, constant memory",
                     {{"sweep", {"size"}}, {"level", {"constant"}}}, "Working set", {"level"}),
          curve_view("Latency of constants beside code that shares a cache with them",
                     {{"sweep", {"beside code"}}}, "Constants and code", {"constants (B)"}),
          plot("Pace of straight-line code against its length",
               {{"sweep", {"code"}}, {"level", {"instruction caches"}}}, working_set,
               "Cycles per instruction", {"level"}, {.x_label = "Length", .x_log2 = true}),
          with_regimes(curve_view("Latency against footprint, one line in each large page",
                                  {{"sweep", {"pages"}}}, "Footprint", {"level"}),
                       curve(entries, {{"sweep", "pages"}}), facts,
                       {{"tlb.reach", "TLB level 1"}, {"tlb.reach_2", "TLB level 2"}}),
          curve_view("Second load of a pair against its distance from the first",
                     {{"sweep", {"fetch"}}}, "Distance", {"level"}, "", false, "distance (B)"),
          table("Distributed shared memory by cluster size and distance in ranks",
                {{"sweep", {"distance"}}},
                {"instruction", "cluster size", "distance", "metric", "extra:latency_ns"}),
          table("Lines and sets of the L1 and the L2", {{"sweep", {"line", "associativity"}}},
                {"sweep", "level", "candidate (B)", "stride (B)", "elements", "metric"})};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings = evaluate(
      {.facts = latency_rows(entries),
       .more_facts = {size_facts, driver_size_facts, cache_facts},
       .answer = "A load takes {shared.latency:.1f} cycles from shared memory, {l1.latency:.1f} "
                 "from the L1, {l2.latency:.1f} from the L2 and {dram.latency:.1f} from DRAM; the "
                 "L1 holds up to {l1.size}, the L2 {l2.size}."},
      entries);
  findings.views = views(entries, findings.facts);
  return findings;
}

}  // namespace fathom::memory_latency
