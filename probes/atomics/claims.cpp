#include "probes/atomics/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "probes/atomics/patterns.h"
#include "results/query.h"
#include "results/rows.h"

namespace fathom::atomics {
namespace {

constexpr const char* left_out = "its cases were left out of this run";

/// The part of a fact's id that names the level.
const char* part_of(Level level) {
  constexpr const char* parts[] = {"l2", "shared", "dsmem"};
  return parts[static_cast<int>(level)];
}

const char* unit_of(Level level) { return level == Level::l2 ? "ops/clk" : "ops/clk/SM"; }

/// "atomic_add", "reduction_add_f32", "atomic_add_sys": the plainest form of each has the shortest.
std::string words_of(const Instruction& i, bool with_operation = true) {
  std::string words = i.returns ? "atomic" : "reduction";
  if (with_operation) words += fmt::format("_{}", name_of(i.operation));
  if (i.type != Type::u32) words += fmt::format("_{}", name_of(i.type));
  const std::string_view usual = i.level == Level::l2       ? "gpu"
                                 : i.level == Level::shared ? "cta"
                                                            : "cluster";
  if (i.scope != usual) words += fmt::format("_{}", i.scope);
  return words;
}

std::string subject_of(const Instruction& i) {
  constexpr const char* subjects[] = {"L2", "shared memory", "distributed shared memory"};
  return fmt::format("{}, {}", subjects[static_cast<int>(i.level)], i.ptx());
}

std::string absent_reason(const Instruction& i) {
  if (i.since <= 75) return left_out;
  return fmt::format("this GPU lacks it (it came with compute capability {}.{}), or {}",
                     i.since / 10, i.since % 10, left_out);
}

const Entry* find_entry(std::span<const Entry> entries, const AxisFilter& filter) {
  const auto found = select(entries, filter);
  return found.empty() ? nullptr : found.front();
}

Fact throughput_fact(std::span<const Entry> entries, const Instruction& instruction,
                     const char* sweep, const char* pattern, FactName name) {
  const Entry* entry = find_entry(
      entries, {{"sweep", sweep}, {"pattern", pattern}, {"instruction", instruction.ptx()}});
  name.unit = unit_of(instruction.level);
  const bool whole = instruction.level == Level::l2;
  return fact_or_reason(entry, std::move(name),
                        fmt::format("{}; {}, {}", pattern,
                                    whole ? "all SMs at once" : "each SM alone, the median one",
                                    entry == nullptr ? "" : entry->timing.timer),
                        absent_reason(instruction));
}

void add_operations(std::vector<Fact>& facts, std::span<const Entry> entries) {
  for (const Instruction& i : all_instructions()) {
    facts.push_back(throughput_fact(entries, i, "operations", own_words,
                                    {fmt::format("{}.{}_throughput", part_of(i.level), words_of(i)),
                                     subject_of(i), "throughput"}));
  }
}

/// The instructions whose one-address case is stated: additions by type, and the others of u32.
bool stated_of_one_address(const Instruction& i) {
  const bool usual_scope = i.level != Level::l2 || std::string_view(i.scope) == "gpu";
  const bool simple = i.type != Type::b128 && i.type != Type::f32x4 && i.type != Type::s32;
  return usual_scope && simple && (i.operation == Operation::add || i.type == Type::u32);
}

void add_same_address(std::vector<Fact>& facts, std::span<const Entry> entries) {
  for (const Instruction& i : all_instructions()) {
    if (!stated_of_one_address(i)) continue;
    const std::string words = words_of(i, i.operation != Operation::add);
    facts.push_back(
        throughput_fact(entries, i, "same address", one_address,
                        {fmt::format("{}.{}_same_address_throughput", part_of(i.level), words),
                         subject_of(i), "throughput on one address"}));
  }
}

const Instruction& plain_add(Level level, bool returns) {
  return *std::ranges::find_if(
      all_instructions(),
      [&](const Instruction& i) {
        return i.level == level && i.returns == returns && i.operation == Operation::add &&
               i.type == Type::u32;
      });
}

void add_spreads(std::vector<Fact>& facts, std::span<const Entry> entries) {
  struct Spread {
    Level level;
    const char* pattern;
    const char* id;
  };
  constexpr Spread spreads[] = {
      {Level::l2, address_a_warp, "address_a_warp"},     {Level::l2, one_line, "one_line"},
      {Level::l2, sector_a_lane, "sector_a_lane"},       {Level::l2, line_a_lane, "line_a_lane"},
      {Level::shared, address_a_warp, "address_a_warp"}, {Level::shared, one_line, "one_line"}};
  for (const Spread& spread : spreads) {
    for (const bool returns : {true, false}) {
      const Instruction& i = plain_add(spread.level, returns);
      facts.push_back(throughput_fact(
          entries, i, "spread", spread.pattern,
          {fmt::format("{}.{}_{}_throughput", part_of(i.level), words_of(i, false), spread.id),
           fmt::format("{}, {}", subject_of(i), spread.pattern), "throughput"}));
    }
  }
}

/// The largest working set, several times the L2.
void add_memory(std::vector<Fact>& facts, std::span<const Entry> entries) {
  for (const char* pattern : {sweeping_lines, sector_a_lane}) {
    for (const bool returns : {true, false}) {
      const Instruction& i = plain_add(Level::l2, returns);
      const Entry* largest = nullptr;
      std::int64_t most = 0;
      for (const Entry* entry :
           select(entries,
                  {{"sweep", "working set"}, {"pattern", pattern}, {"instruction", i.ptx()}})) {
        const auto* bytes = std::get_if<std::int64_t>(find_axis(*entry, "working set (B)"));
        if (bytes != nullptr && *bytes > most) {
          most = *bytes;
          largest = entry;
        }
      }
      FactName name{fmt::format("dram.{}_{}_throughput", words_of(i, false),
                                pattern == sweeping_lines ? "line_a_warp" : "sector_a_lane"),
                    fmt::format("DRAM, {}, {}", i.ptx(), pattern), "throughput", unit_of(i.level)};
      facts.push_back(
          fact_or_reason(largest, std::move(name),
                         fmt::format("working set of {} MiB; all SMs at once, {}", most >> 20,
                                     largest == nullptr ? "" : largest->timing.timer),
                         left_out));
    }
  }
}

/// What one more atomic on a contended address costs.
void add_costs(std::vector<Fact>& facts, std::span<const Entry> entries) {
  struct Cost {
    const char* contender;
    std::int64_t count;  ///< 0: the most there are
    const char* id;
    const char* words;
  };
  constexpr Cost costs[] = {{"lanes of a warp", 1, "one_lane", "one lane"},
                            {"lanes of a warp", 32, "one_warp", "one warp"},
                            {"warps of an SM", 32, "one_sm", "32 warps of one SM"},
                            {"SMs", 0, "all_sms", "32 warps of every SM"}};
  for (const Level level : {Level::l2, Level::shared}) {
    for (const Cost& cost : costs) {
      if (level == Level::shared && std::string_view(cost.contender) == "SMs") continue;
      const Instruction& i = plain_add(level, true);
      AxisFilter filter{
          {"sweep", "contenders"}, {"instruction", i.ptx()}, {"contender", cost.contender}};
      if (cost.count != 0) filter.emplace_back("contenders", cost.count);
      const auto found = select(entries, filter);
      const Entry* entry = found.empty() ? nullptr : found.back();
      FactName name{fmt::format("{}.atomic_same_address_time_{}", part_of(level), cost.id),
                    fmt::format("{}, one address, {}", subject_of(i), cost.words),
                    "time per operation", "s", Better::lower};
      const auto has_time = [](const Entry& e) { return e.extras.contains("ns_per_operation"); };
      if (entry == nullptr || !entry->metric.value || !has_time(*entry)) {
        facts.push_back(missing_fact(std::move(name), why_missing(entry, left_out)));
        continue;
      }
      Fact fact = fact_of(*entry, std::move(name),
                          "time of all over their number, eight under way in each thread");
      const double seconds = entry->extras.at("ns_per_operation") * 1e-9;
      if (fact.interval) {  // of the throughput, turned over
        const double value = *entry->metric.value;
        const Interval of_rate = *fact.interval;
        fact.interval->low = seconds * value / of_rate.high;
        fact.interval->high = seconds * value / of_rate.low;
      }
      fact.value = seconds;
      fact.bound.reset();
      facts.push_back(std::move(fact));
    }
  }
}

View table(const char* title, const char* note, const char* sweep,
           std::vector<std::string> columns) {
  return {
      .title = title, .note = note, .where = {{"sweep", {sweep}}}, .columns = std::move(columns)};
}

View plot(const char* title, const char* sweep, const char* x, const char* y_label,
          std::vector<std::string> series) {
  return {.kind = View::Kind::plot,
          .title = title,
          .where = {{"sweep", {sweep}}},
          .x = x,
          .x_label = x,
          .y_label = y_label,
          .x_log2 = true,
          .series = std::move(series),
          .show_bound = false,
          .show_expected = false};
}

std::vector<View> views() {
  View sizes = plot("Atomic additions against working set", "working set", "working set (B)",
                    "Atomics per clock", {"form", "pattern"});
  View cost = plot("Cost of an atomic addition on one address", "contenders", "contenders",
                   "Nanoseconds per atomic", {"level", "contender"});
  cost.y = "extra:ns_per_operation";
  cost.y_log = true;
  cost.y_from_zero = false;
  return {
      table("Atomics without contention, by operation, type and scope",
            "Atomics per clock: of the whole GPU in the L2, of one SM in shared memory.",
            "operations",
            {"level", "instruction", "metric", "interval", "bound", "of_bound",
             "extra:ns_per_operation", "verdict"}),
      table("Atomics of all threads on one address",
            "In shared memory all threads of a block share it; in the L2 those of the GPU.",
            "same address",
            {"level", "instruction", "metric", "interval", "extra:ns_per_operation", "verdict"}),
      table(
          "Atomic additions by spread of addresses", "", "spread",
          {"level", "pattern", "form", "metric", "interval", "extra:ns_per_operation", "verdict"}),
      std::move(sizes), std::move(cost)};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  std::vector<Fact>& facts = findings.facts;
  add_operations(facts, entries);
  add_same_address(facts, entries);
  add_spreads(facts, entries);
  add_memory(facts, entries);
  add_costs(facts, entries);
  findings.views = views();
  findings.answer = answer_from(
      facts,
      "The L2 completes {l2.atomic_add_throughput:.4g} atomic additions a clock on words of their "
      "own and {l2.atomic_same_address_throughput:.4g} on one address "
      "({l2.atomic_same_address_time_all_sms} each); an SM's shared memory "
      "{shared.atomic_add_throughput:.4g} and {shared.atomic_same_address_throughput:.4g}.");
  return findings;
}

}  // namespace fathom::atomics
