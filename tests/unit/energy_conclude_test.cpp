#include "probes/claims.h"
#include "probes/energy/loops.h"
#include "probes/instructions/instructions.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::fact;
using namespace fathom::energy;

namespace {

/// The energy of a byte from the L2, and the power at rest.
std::vector<Entry> planted_run() {
  return {planted::entry("rest/idle", {{"id", "idle"}}, 80, Better::lower),
          planted::entry("memory/l2", {{"id", "l2"}}, 40e-12, Better::lower)};
}

}  // namespace

// Facts that have a value: recording_conclude_test.cpp.
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
  const Findings findings = planted::checked(energy::conclude(entries));
  for (const char* id :
       {"registers.energy_per_byte", "ffma.energy_per_flop", "imad.energy_per_operation"})
    CHECK_NOTHROW(fact(findings, id));
  CHECK(findings.views.front().overview);
  CHECK(fact(findings, "idle.power").reason == "there is no counter");
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
