#include "probes/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "probes/energy/loops.h"
#include "results/findings.h"
#include "results/text.h"

namespace fathom::energy {
namespace {

constexpr const char* meter = "NVML's energy counter between two of its steps";

/// "; SM clock 1.4 GHz, held down by sw_power_cap": what the figure holds for.
std::string clocks_of(const Entry& entry) {
  std::string text;
  const Telemetry& telemetry = entry.telemetry;
  if (telemetry.sm_clock_hz.median)
    text += fmt::format("; SM clock {}", format_quantity(*telemetry.sm_clock_hz.median, "Hz"));
  if (!telemetry.throttle_reasons.empty())
    text += fmt::format("{} held down by {}", text.empty() ? "; clocks" : ",",
                        fmt::join(telemetry.throttle_reasons, ", "));
  return text;
}

FactRow power_row(const char* id, const char* subject, const char* what) {
  return {{fmt::format("{}.power", id), subject, "power", "W", Better::lower},
          {{"id", id}},
          fmt::format("{}: {}", meter, what),
          left_out,
          Pick::first,
          [](Fact& fact, const Entry& entry) { fact.method += clocks_of(entry); }};
}

/// The entry's own name for what it ran, and the clocks that it ran at.
void describe(Fact& fact, const Entry& entry) {
  if (const AxisValue* name = find_axis(entry, "loop")) fact.subject = std::get<std::string>(*name);
  fact.method += clocks_of(entry);
}

void take_off_base(Fact& fact, const Entry& entry) {
  const double base = extra_of(base_extra)(entry);
  if (std::isnan(base)) {
    describe(fact, entry);
    fact = unmeasured(
        fact, "the active idle, whose power is to be taken off, was not measured before it");
    fact.evidence = {entry.name};
    return;
  }
  *fact.value -= base;
  if (fact.interval) {
    fact.interval->low -= base;
    fact.interval->high -= base;
  }
  fact.method += fmt::format(", less the active idle's {}", format_quantity(base, fact.unit));
  describe(fact, entry);
}

void add_loop(std::vector<FactRow>& rows, const char* id, const char* subject, const Per& per,
              const char* what, const char* absent) {
  for (const bool net : {true, false})
    rows.push_back(
        {{fmt::format("{}.{}{}", id, net ? "" : "gross_", per.quantity), subject,
          fmt::format("{}energy per {}", net ? "" : "gross ", per.axis), per.unit, Better::lower},
         {{"id", id}},
         fmt::format("{}: {}", meter, what),
         absent,
         Pick::first,
         net ? take_off_base : describe});
}

std::vector<FactRow> fact_rows() {
  std::vector<FactRow> rows{
      power_row(idle_id, "GPU, idle", "a context, and nothing that runs"),
      power_row(active_idle_id, "GPU, active idle", "128 resident threads on each SM, which sleep"),
      {{"registers.energy_per_byte", "registers", "energy per byte", "J/B", Better::lower},
       {{"id", "registers"}},
       "",
       "no instruction moves bytes between registers and does nothing else: the energy of an FFMA "
       "has three reads and a write of 4 bytes in it"}};
  for (const MemoryLoop& loop : memory_loops)
    add_loop(rows, loop.id, loop.subject, per_byte, loop.what, left_out);
  for (const InstructionLoop& loop : instruction_loops)
    add_loop(rows, loop.id, loop.subject, loop.per, "independent chains in many warps of every SM",
             "this GPU has no such instruction, or its case was left out");
  return rows;
}

std::vector<View> views() {
  return {
      plot("Energy ladder", {{"kind", {"memory", "instruction"}}}, "loop", "Energy (pJ)", {"per"},
           {.x_label = "What is done", .y = net_extra, .y_log = true, .overview = true},
           "Picojoules for a byte from each level and for an operation of each kind of "
           "arithmetic, less what the GPU takes with threads that only sleep. A multiply-add "
           "is two operations."),
      table("Energy of each loop", {{"kind", {"memory", "instruction"}}},
            {"loop", "per", "metric", "interval", "extra:net_energy_pj", "extra:power_w",
             "extra:work_per_s", "verdict"},
            "The metric is gross; net_energy_pj is less the active idle."),
      table("Power at rest", {{"kind", {"rest"}}}, {"loop", "metric", "interval", "verdict"})};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions rows{
      .facts = fact_rows(),
      .answer =
          "A byte takes {dram.energy_per_byte} from DRAM, {l2.energy_per_byte} from the L2, "
          "{l1.energy_per_byte} from the L1 and {shared.energy_per_byte} from shared memory, an "
          "FFMA {ffma.energy_per_flop} and fp16 on the tensor cores {tensor_f16.energy_per_flop}; "
          "the GPU takes {idle.power} idle, and {active_idle.power} with threads that sleep.",
      .views = views()};
  return evaluate(rows, entries);
}

}  // namespace fathom::energy
