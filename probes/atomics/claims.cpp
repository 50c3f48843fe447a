#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/atomics/patterns.h"
#include "results/findings.h"

namespace fathom::atomics {
namespace {

/// By level: the part of a fact's id that names it, and its subject.
constexpr const char *parts[] = {"l2", "shared", "dsmem"},
                     *subjects[] = {"L2", "shared memory", "distributed shared memory"};

const char* unit_of(Level level) { return level == Level::l2 ? "ops/clk" : "ops/clk/SM"; }

/// "atomic_add", "reduction_add_f32", "atomic_add_sys": the plainest form of each has the shortest.
std::string words_of(const Instruction& i, bool with_operation = true) {
  std::string words = i.returns ? "atomic" : "reduction";
  if (with_operation) words += fmt::format("_{}", name_of(i.operation));
  if (i.type != Type::u32) words += fmt::format("_{}", name_of(i.type));
  constexpr Scope usual[] = {Scope::gpu, Scope::cta, Scope::cluster};
  if (i.scope != usual[static_cast<int>(i.level)]) words += fmt::format("_{}", name_of(i.scope));
  return words;
}

std::string subject_of(const Instruction& i) {
  return fmt::format("{}, {}", subjects[static_cast<int>(i.level)], i.ptx());
}

FactRow throughput_row(const Instruction& i, const char* sweep, const char* pattern,
                       const std::string& words, const char* quantity = "throughput") {
  FactRow row{
      {fmt::format("{}.{}_throughput", parts[static_cast<int>(i.level)], words), subject_of(i),
       quantity, unit_of(i.level)},
      {{"sweep", sweep}, {"pattern", pattern}, {"instruction", i.ptx()}},
      fmt::format("{}; {}, {{timer}}", pattern,
                  i.level == Level::l2 ? "all SMs at once" : "each SM alone, the median one")};
  if (i.since > 75)
    row.absent = fmt::format("this GPU lacks it (it came with compute capability {}.{}), or {}",
                             i.since / 10, i.since % 10, left_out);
  return row;
}

const Instruction& plain_add(Level level, bool returns) {
  return *std::ranges::find_if(
      all_instructions,
      [&](const Instruction& i) {
        return i.level == level && i.returns == returns && i.operation == Operation::add &&
               i.type == Type::u32;
      });
}

void add_spreads(std::vector<FactRow>& rows) {
  constexpr std::pair<const char*, const char*> spreads[] = {{address_a_warp, "address_a_warp"},
                                                             {one_line, "one_line"},
                                                             {sector_a_lane, "sector_a_lane"},
                                                             {line_a_lane, "line_a_lane"}};
  for (const Level level : {Level::l2, Level::shared}) {
    for (const auto& [pattern, id] : std::span(spreads).first(level == Level::l2 ? 4 : 2)) {
      for (const bool returns : {true, false}) {
        const Instruction& i = plain_add(level, returns);
        rows.push_back(
            throughput_row(i, "spread", pattern, fmt::format("{}_{}", words_of(i, false), id)));
        rows.back().name.subject += fmt::format(", {}", pattern);
      }
    }
  }
}

/// The largest working set, several times the L2.
void add_memory(std::vector<FactRow>& rows) {
  for (const auto& [pattern, id] :
       {std::pair{sweeping_lines, "line_a_warp"}, {sector_a_lane, "sector_a_lane"}}) {
    for (const bool returns : {true, false}) {
      const Instruction& i = plain_add(Level::l2, returns);
      FactRow& row = rows.emplace_back(throughput_row(i, "working set", pattern, ""));
      row.name.id = fmt::format("dram.{}_{}_throughput", words_of(i, false), id);
      row.name.subject = fmt::format("DRAM, {}, {}", i.ptx(), pattern);
      row.pick = Pick::most;
      row.figure = axis_of("working set (B)");
      row.change = [](Fact& fact, const Entry& entry) {
        const auto bytes = static_cast<std::int64_t>(axis_of("working set (B)")(entry));
        fact.method = fmt::format("working set of {} MiB; all SMs at once, {}", bytes >> 20,
                                  entry.timing.timer);
      };
    }
  }
}

void take_time(Fact& fact, const Entry& entry) {
  const double seconds = extra_of("ns_per_operation")(entry) * 1e-9;
  if (std::isnan(seconds)) {
    fact = unmeasured(fact, why_missing(&entry, left_out));
    return;
  }
  if (fact.interval) {  // of the throughput, turned over
    const Interval of_rate = *fact.interval;
    fact.interval->low = seconds * *fact.value / of_rate.high;
    fact.interval->high = seconds * *fact.value / of_rate.low;
  }
  fact.value = seconds;
  fact.bound.reset();
}

/// What one more atomic on a contended address costs; without a number of contenders, at the most.
void add_costs(std::vector<FactRow>& rows) {
  const auto add = [&](Level level, AxisFilter where, const char* id, const char* words) {
    const Instruction& i = plain_add(level, true);
    rows.push_back(
        {{fmt::format("{}.atomic_same_address_time_{}", parts[static_cast<int>(level)], id),
          fmt::format("{}, one address, {}", subject_of(i), words), "time per operation", "s",
          Better::lower},
         AxisFilter{{"sweep", "contenders"}, {"instruction", i.ptx()}} + where,
         "time of all over their number, eight under way in each thread",
         left_out,
         Pick::last,
         take_time});
  };
  for (const Level level : {Level::l2, Level::shared}) {
    add(level, {{"contender", "lanes of a warp"}, {"contenders", 1}}, "one_lane", "one lane");
    add(level, {{"contender", "lanes of a warp"}, {"contenders", 32}}, "one_warp", "one warp");
    add(level, {{"contender", "warps of an SM"}, {"contenders", 32}}, "one_sm",
        "32 warps of one SM");
    if (level == Level::l2) add(level, {{"contender", "SMs"}}, "all_sms", "32 warps of every SM");
  }
}

std::vector<FactRow> fact_rows() {
  std::vector<FactRow> rows;
  for (const Instruction& i : all_instructions)
    rows.push_back(throughput_row(i, "operations", own_words, words_of(i)));
  for (const Instruction& i : all_instructions)
    if (asked_of_one_address(i))
      rows.push_back(throughput_row(i, "same address", one_address,
                                    words_of(i, i.operation != Operation::add) + "_same_address",
                                    "throughput on one address"));
  add_spreads(rows);
  add_memory(rows);
  add_costs(rows);
  return rows;
}

std::vector<View> views() {
  return {
      table("Atomics without contention, by operation, type and scope", {{"sweep", {"operations"}}},
            {"level", "instruction", "metric", "interval", "bound", "of_bound",
             "extra:ns_per_operation", "verdict"},
            "Atomics per clock: of the whole GPU in the L2, of one SM in shared memory."),
      table("Atomics of all threads on one address", {{"sweep", {"same address"}}},
            {"level", "instruction", "metric", "interval", "extra:ns_per_operation", "verdict"},
            "In shared memory all threads of a block share it; in the L2 those of the GPU."),
      table(
          "Atomic additions by spread of addresses", {{"sweep", {"spread"}}},
          {"level", "pattern", "form", "metric", "interval", "extra:ns_per_operation", "verdict"}),
      plot("Atomic additions against working set", {{"sweep", {"working set"}}}, "working set (B)",
           "Atomics per clock", {"form", "pattern"}, {.x_log2 = true}),
      plot("Cost of an atomic addition on one address", {{"sweep", {"contenders"}}}, "contenders",
           "Nanoseconds per atomic", {"level", "contender"},
           {.y = "extra:ns_per_operation", .x_log2 = true, .y_log = true})};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions rows{
      .facts = fact_rows(),
      .answer =
          "The L2 completes {l2.atomic_add_throughput:.4g} atomic additions a clock on words of "
          "their own and {l2.atomic_same_address_throughput:.4g} on one address "
          "({l2.atomic_same_address_time_all_sms} each); an SM's shared memory "
          "{shared.atomic_add_throughput:.4g} and {shared.atomic_same_address_throughput:.4g}.",
      .views = views()};
  return evaluate(rows, entries);
}

}  // namespace fathom::atomics
