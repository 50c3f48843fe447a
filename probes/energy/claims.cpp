#include "probes/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "probes/energy/loops.h"
#include "results/format.h"
#include "results/query.h"
#include "results/rows.h"

namespace fathom::energy {
namespace {

constexpr const char* left_out = "its case was left out of this run, or failed";
constexpr const char* meter = "NVML's energy counter between two of its steps";

const Entry* entry_of(std::span<const Entry> entries, std::string_view id) {
  for (const Entry& entry : entries)
    if (matches(entry, {{"id", std::string(id)}})) return &entry;
  return nullptr;
}

std::string subject_of(const Entry* entry, std::string_view otherwise) {
  const AxisValue* name = entry == nullptr ? nullptr : find_axis(*entry, "loop");
  return name == nullptr ? std::string(otherwise) : std::get<std::string>(*name);
}

/// "; SM clock 1.4 GHz, held down by sw_power_cap": what the figure holds for.
std::string clocks_of(const Entry& entry) {
  std::string text;
  const Telemetry& telemetry = entry.telemetry;
  if (telemetry.sm_clock_hz.median)
    text += fmt::format("; SM clock {}", format_quantity(*telemetry.sm_clock_hz.median, "Hz"));
  if (!telemetry.throttle_reasons.empty()) {
    text += fmt::format("{} held down by {}", text.empty() ? "; clocks" : ",",
                        fmt::join(telemetry.throttle_reasons, ", "));
  }
  return text;
}

/// The entry's metric, less `base`.
void take_metric(Fact& fact, const Entry& entry, double base) {
  fact.value = *entry.metric.value - base;
  if (entry.interval) {
    fact.interval = entry.interval;
    fact.interval->low -= base;
    fact.interval->high -= base;
  }
  fact.repeats = static_cast<int>(entry.samples.size());
  fact.evidence = {entry.name};
  fact.counters = entry.counters;
}

Fact power_fact(std::span<const Entry> entries, std::string_view id, const char* subject,
                const char* what) {
  const Entry* entry = entry_of(entries, id);
  Fact fact = named_fact({fmt::format("{}.power", id), subject, "power", "W", Better::lower});
  if (entry == nullptr || !entry->metric.value) {
    fact.reason = why_missing(entry, left_out);
    return fact;
  }
  take_metric(fact, *entry, 0);
  fact.method = fmt::format("{}: {}{}", meter, what, clocks_of(*entry));
  return fact;
}

/// The loop's own energy, and the gross one.
void add_loop(std::vector<Fact>& facts, std::span<const Entry> entries, std::string_view id,
              std::string_view subject, Per per, std::string_view what, std::string_view absent) {
  const PerNames names = names_of(per);
  const Entry* entry = entry_of(entries, id);
  const std::string unit(names.unit);
  Fact net = named_fact({fmt::format("{}.{}", id, names.quantity), subject_of(entry, subject),
                         fmt::format("energy per {}", names.axis), unit, Better::lower});
  Fact gross = named_fact({fmt::format("{}.gross_{}", id, names.quantity), net.subject,
                           "gross " + net.quantity, unit, Better::lower});
  if (entry == nullptr || !entry->metric.value) {
    net.reason = gross.reason = why_missing(entry, std::string(absent));
  } else {
    const std::string how = fmt::format("{}: {}", meter, what);
    take_metric(gross, *entry, 0);
    gross.method = how + clocks_of(*entry);
    const auto base = entry->extras.find(base_extra);
    if (base == entry->extras.end()) {
      net.reason = "the active idle, whose power is to be taken off, was not measured before it";
      net.evidence = {entry->name};
    } else {
      take_metric(net, *entry, base->second);
      net.method = fmt::format("{}, less the active idle's {}{}", how,
                               format_quantity(base->second, unit), clocks_of(*entry));
    }
  }
  facts.push_back(std::move(net));
  facts.push_back(std::move(gross));
}

std::vector<Fact> facts_of(std::span<const Entry> entries) {
  std::vector<Fact> facts{
      power_fact(entries, idle_id, "GPU, idle", "a context, and nothing that runs"),
      power_fact(entries, active_idle_id, "GPU, active idle",
                 "128 resident threads on each SM, which sleep")};
  facts.push_back(missing_fact(
      {"registers.energy_per_byte", "registers", "energy per byte", "J/B", Better::lower},
      "no instruction moves bytes between registers and does nothing else: the energy of an FFMA "
      "has three reads and a write of 4 bytes in it"));
  for (const MemoryLoop& loop : memory_loops)
    add_loop(facts, entries, loop.id, loop.subject, Per::byte, loop.what, left_out);
  for (const InstructionLoop& loop : instruction_loops) {
    add_loop(facts, entries, loop.id, loop.subject, loop.per,
             "independent chains in many warps of every SM",
             "this GPU has no such instruction, or its case was left out");
  }
  return facts;
}

std::vector<View> views() {
  View ladder{.kind = View::Kind::plot, .title = "Energy ladder", .overview = true};
  ladder.note =
      "Picojoules for a byte from each level and for an operation of each kind of arithmetic, less "
      "what the GPU takes with threads that only sleep. A multiply-add is two operations.";
  ladder.where = {{"kind", {"memory", "instruction"}}};
  ladder.x = "loop";
  ladder.x_label = "What is done";
  ladder.y = net_extra;
  ladder.y_label = "Energy (pJ)";
  ladder.y_log = true;
  ladder.y_from_zero = false;
  ladder.series = {"per"};
  ladder.show_bound = ladder.show_expected = false;
  View table{.title = "Energy of each loop",
             .note = "The metric is gross; net_energy_pj is less the active idle.",
             .where = {{"kind", {"memory", "instruction"}}},
             .columns = {"loop", "per", "metric", "interval", "extra:net_energy_pj",
                         "extra:power_w", "extra:work_per_s", "verdict"}};
  View rest{.title = "Power at rest",
            .where = {{"kind", {"rest"}}},
            .columns = {"loop", "metric", "interval", "verdict"}};
  return {ladder, table, rest};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.facts = facts_of(entries);
  findings.answer = answer_from(
      findings.facts,
      "A byte takes {dram.energy_per_byte} from DRAM, {l2.energy_per_byte} from the L2, "
      "{l1.energy_per_byte} from the L1 and {shared.energy_per_byte} from shared memory, an FFMA "
      "{ffma.energy_per_flop} and fp16 on the tensor cores {tensor_f16.energy_per_flop}; the GPU "
      "takes {idle.power} idle, and {active_idle.power} with threads that sleep.");
  findings.views = views();
  return findings;
}

}  // namespace fathom::energy
