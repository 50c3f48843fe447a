#include "probes/claims.h"
#include "probes/energy/loops.h"
#include "probes/instructions/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::fact;
using namespace fathom::energy;

namespace {

Entry planted_loop(const char* kind, const char* id, const char* subject, const char* per,
                   double value) {
  Entry e = planted::entry(std::string(kind) + "/" + id,
                           {{"kind", kind}, {"id", id}, {"loop", subject}, {"per", per}}, value,
                           Better::lower);
  e.samples = {value, value, value};
  e.interval = Interval{value * 0.98, value * 1.02, 0.95, "planted"};
  return e;
}

std::vector<Entry> planted_run() {
  std::vector<Entry> entries{
      planted_loop("rest", "idle", "nothing runs", "second", 80),
      planted_loop("rest", "active_idle", "resident threads sleep", "second", 120),
      planted_loop("memory", "dram", "DRAM", "byte", 100e-12),
      planted_loop("memory", "l2", "L2", "byte", 40e-12),
      planted_loop("instruction", "tensor_f16", "wgmma m64n256k16 fp16", "FLOP", 0.8e-12)};
  entries[2].extras = {{base_extra, 30e-12}, {net_extra, 70}};
  entries[2].telemetry.throttle_reasons = {"sw_power_cap"};
  entries[2].telemetry.sm_clock_hz.median = 1.4e9;
  entries[4].extras = {{base_extra, 0.2e-12}, {net_extra, 0.6}};
  return entries;
}

}  // namespace

TEST_CASE("energies are stated less the active idle's, and gross", "[probes]") {
  const Findings findings = energy::conclude(planted_run());
  const Fact& net = fact(findings.facts, "dram.energy_per_byte");
  CHECK(*net.value == Approx(70e-12));
  CHECK(net.unit == "J/B");
  CHECK(net.better == Better::lower);
  CHECK(net.interval->low == Approx(68e-12));
  CHECK(net.interval->high == Approx(72e-12));
  CHECK(net.repeats == 3);
  CHECK(net.evidence == std::vector<std::string>{"memory/dram"});
  CHECK_THAT(net.method, contains("sw_power_cap") && contains("1.4 GHz") && contains("30 pJ/B"));
  CHECK(*fact(findings.facts, "dram.gross_energy_per_byte").value == Approx(100e-12));
  CHECK(*fact(findings.facts, "idle.power").value == 80);
  CHECK(*fact(findings.facts, "active_idle.power").value == 120);
  const Fact& tensor = fact(findings.facts, "tensor_f16.energy_per_flop");
  CHECK(*tensor.value == Approx(0.6e-12));
  CHECK(tensor.unit == "J/FLOP");
  CHECK(tensor.subject == "wgmma m64n256k16 fp16");
  CHECK_THAT(findings.answer, contains("70 pJ/B") && contains("80 W"));
}

TEST_CASE("without the active idle only the gross energy is known", "[probes]") {
  const Findings findings = energy::conclude(planted_run());
  const Fact& net = fact(findings.facts, "l2.energy_per_byte");
  CHECK_FALSE(net.value);
  CHECK_THAT(net.reason, contains("active idle"));
  CHECK(*fact(findings.facts, "l2.gross_energy_per_byte").value == Approx(40e-12));
}

TEST_CASE("every energy has a value or a reason, and an id of its own", "[probes]") {
  auto entries = planted_run();
  entries[0].metric.value.reset();
  entries[0].verdict.status = VerdictStatus::failed;
  entries[0].verdict.reasons = {"there is no counter"};
  for (const Findings& findings : {energy::conclude(entries), energy::conclude({})}) {
    planted::check_facts(findings.facts);
    for (const char* id :
         {"registers.energy_per_byte", "ffma.energy_per_flop", "imad.energy_per_operation"})
      CHECK_NOTHROW(fact(findings, id));
    CHECK(findings.views.front().overview);
  }
  CHECK(fact(energy::conclude(entries).facts, "idle.power").reason == "there is no counter");
  CHECK(energy::conclude({}).answer.empty());
}

TEST_CASE("the loops name instructions that exist", "[probes]") {
  std::set<std::string_view> ids;
  for (const auto& instruction : instructions::all_instructions()) ids.insert(instruction.id);
  for (const InstructionLoop& loop : instruction_loops) {
    CAPTURE(loop.id);
    CHECK_FALSE(loop.instructions[0].empty());
    for (const std::string_view id : loop.instructions) CHECK((id.empty() || ids.contains(id)));
  }
}
