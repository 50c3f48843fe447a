#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/atomics/patterns.h"
#include "results/rows.h"

namespace fathom::atomics {
namespace {

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
  constexpr Scope usual[] = {Scope::gpu, Scope::cta, Scope::cluster};
  if (i.scope != usual[static_cast<int>(i.level)]) words += fmt::format("_{}", name_of(i.scope));
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

/// The fact of a pattern's case; `words` go into its id.
FactRow throughput_row(const Instruction& i, const char* sweep, const char* pattern,
                       const std::string& words, const char* quantity = "throughput") {
  return {
      {fmt::format("{}.{}", part_of(i.level), words), subject_of(i), quantity, unit_of(i.level)},
      {{"sweep", sweep}, {"pattern", pattern}, {"instruction", i.ptx()}},
      fmt::format("{}; {}, {{timer}}", pattern,
                  i.level == Level::l2 ? "all SMs at once" : "each SM alone, the median one"),
      absent_reason(i)};
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
      rows.push_back(
          throughput_row(i, "spread", spread.pattern,
                         fmt::format("{}_{}_throughput", words_of(i, false), spread.id)));
      rows.back().name.subject += fmt::format(", {}", spread.pattern);
    }
  }
}

/// The largest working set, several times the L2.
void add_memory(std::vector<FactRow>& rows) {
  for (const char* pattern : {sweeping_lines, sector_a_lane}) {
    for (const bool returns : {true, false}) {
      const Instruction& i = plain_add(Level::l2, returns);
      rows.push_back(
          {{fmt::format("dram.{}_{}_throughput", words_of(i, false),
                        pattern == sweeping_lines ? "line_a_warp" : "sector_a_lane"),
            fmt::format("DRAM, {}, {}", i.ptx(), pattern), "throughput", unit_of(i.level)},
           {{"sweep", "working set"}, {"pattern", pattern}, {"instruction", i.ptx()}}});
      rows.back().absent = left_out;
      rows.back().pick = Pick::most;
      rows.back().figure = axis_of("working set (B)");
      rows.back().change = [](Fact& fact, const Entry& entry) {
        const auto bytes = static_cast<std::int64_t>(axis_of("working set (B)")(entry));
        fact.method = fmt::format("working set of {} MiB; all SMs at once, {}", bytes >> 20,
                                  entry.timing.timer);
      };
    }
  }
}

/// The time of one operation instead of the throughput.
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

/// What one more atomic on a contended address costs.
void add_costs(std::vector<FactRow>& rows) {
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
      AxisFilter where{
          {"sweep", "contenders"}, {"instruction", i.ptx()}, {"contender", cost.contender}};
      if (cost.count != 0) where.emplace_back("contenders", cost.count);
      rows.push_back({{fmt::format("{}.atomic_same_address_time_{}", part_of(level), cost.id),
                       fmt::format("{}, one address, {}", subject_of(i), cost.words),
                       "time per operation", "s", Better::lower},
                      std::move(where),
                      "time of all over their number, eight under way in each thread",
                      left_out,
                      Pick::last,
                      {},
                      take_time});
    }
  }
}

std::vector<FactRow> fact_rows() {
  std::vector<FactRow> rows;
  for (const Instruction& i : all_instructions)
    rows.push_back(throughput_row(i, "operations", own_words, words_of(i) + "_throughput"));
  for (const Instruction& i : all_instructions) {
    if (!asked_of_one_address(i)) continue;
    rows.push_back(
        throughput_row(i, "same address", one_address,
                       words_of(i, i.operation != Operation::add) + "_same_address_throughput",
                       "throughput on one address"));
  }
  add_spreads(rows);
  add_memory(rows);
  add_costs(rows);
  return rows;
}

View log_plot(const char* title, const char* sweep, const char* x, const char* y_label,
              std::vector<std::string> series) {
  View view = plot(title, {{"sweep", {sweep}}}, x, y_label, std::move(series));
  view.x_log2 = true;
  return view;
}

std::vector<View> views() {
  View cost = log_plot("Cost of an atomic addition on one address", "contenders", "contenders",
                       "Nanoseconds per atomic", {"level", "contender"});
  cost.y = "extra:ns_per_operation";
  cost.y_log = true;
  cost.y_from_zero = false;
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
      log_plot("Atomic additions against working set", "working set", "working set (B)",
               "Atomics per clock", {"form", "pattern"}),
      std::move(cost)};
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
