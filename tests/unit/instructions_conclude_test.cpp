#include "probes/claims.h"
#include "probes/instructions/instructions.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using instructions::all_instructions;
using instructions::Instruction;
using planted::fact;

namespace {

const Instruction& instruction_named(const std::string& id) {
  return planted::named(all_instructions(), &Instruction::id, id);
}

}  // namespace

TEST_CASE("every instruction has a subject of its own and a usual latency", "[probes]") {
  std::set<std::string_view> subjects;
  for (const Instruction& instruction : all_instructions()) {
    CAPTURE(instruction.id);
    CHECK(subjects.insert(instruction.subject).second);
    CHECK((instruction.results >= 32 && instruction.usual_latency > 0));
  }
}

TEST_CASE("an instruction that was not measured says why", "[probes]") {
  const auto facts = instructions::conclude({}).facts;
  CHECK_THAT(fact(facts, "wgmma_f16_n64_shared.latency").reason,
             contains("only compute capability 9.0"));
  CHECK_THAT(fact(facts, "redux.latency").reason, contains("8.0"));
  CHECK_THAT(fact(facts, "bar_sync_32.throughput").reason, contains("waits"));
  CHECK_THAT(fact(facts, "clock.latency").reason, contains("no input"));
  CHECK(fact(facts, "fadd.latency").reason == "not in this run");
}

TEST_CASE("bounds are the published rates of each chip, which not every instruction runs on",
          "[probes]") {
  for (const auto& [id, major, minor, bound] : {std::tuple{"ffma", 8, 0, 64},
                                                {"ffma", 9, 0, 128},
                                                {"hfma2", 9, 0, 256},
                                                {"prmt", 9, 0, 128},
                                                {"mufu_rcp", 9, 0, 16},
                                                {"mma_f16_k16", 8, 0, 1024},
                                                {"wgmma_f16_n256_shared", 9, 0, 2048},
                                                {"hfma2", 10, 0, 128},
                                                {"iadd3", 12, 0, 64},  // of three operands
                                                {"shfl_bfly", 7, 5, 16},
                                                // The slower of two conversions, and what is not
                                                // published: what the schedulers issue.
                                                {"f2i_i2f", 9, 0, 16},
                                                {"redux", 9, 0, 128}})
    CHECK(instructions::throughput_bound(instruction_named(id), major, minor)->value == bound);
  for (const auto& [id, major, minor, runs] : {std::tuple{"wgmma_s8_n64_shared", 10, 0, false},
                                               {"mma_f16_k16", 7, 5, false},
                                               {"mma_f16_k8", 7, 5, true},
                                               {"mma_e4m3_k32", 8, 9, true},
                                               {"mma_e4m3_k32", 9, 0, false},
                                               {"mma_e4m3_k32", 12, 0, true}})
    CHECK(instruction_named(id).runs_on(major, minor) == runs);
}
