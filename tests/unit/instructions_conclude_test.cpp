#include "probes/claims.h"
#include "probes/instructions/instructions.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::instructions;

TEST_CASE(
    "every instruction has a subject of its own, and bounds and reasons as they were looked at",
    "[probes]") {
  std::set<std::string_view> subjects;
  std::string all;
  for (const Instruction& instruction : all_instructions()) {
    CAPTURE(instruction.id);
    CHECK(subjects.insert(instruction.subject).second);
    CHECK((instruction.results >= 32 && instruction.usual_latency > 0));
    // Results a clock and SM by compute capability: what the schedulers issue where nothing is
    // published, none where it does not run.
    all += instruction.id + ":";
    for (const int capability : {75, 80, 86, 89, 90, 100, 120}) {
      const auto bound = throughput_bound(instruction, capability / 10, capability % 10);
      const bool runs = instruction.runs_on(capability / 10, capability % 10);
      all += !runs ? " -" : bound ? fmt::format(" {:.6g}", bound->value) : " ?";
    }
    all += "\n";
  }
  for (const Fact& fact : instructions::conclude({}).facts)
    all += fmt::format("{}: {}\n", fact.id, fact.reason);
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/instructions.txt", all);
}
