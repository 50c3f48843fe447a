#include "probes/claims.h"
#include "probes/instructions/instructions.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using instructions::all_instructions;
using instructions::Instruction;
using planted::fact;

namespace {

const Instruction& instruction_named(std::string_view id) {
  for (const Instruction& instruction : all_instructions()) {
    if (instruction.id == id) return instruction;
  }
  throw std::out_of_range(std::string(id));
}

}  // namespace

TEST_CASE("every instruction has an id, a subject and machine code of its own", "[probes]") {
  std::set<std::string_view> ids, subjects;
  for (const Instruction& instruction : all_instructions()) {
    CAPTURE(instruction.id);
    CHECK(ids.insert(instruction.id).second);
    CHECK(subjects.insert(instruction.subject).second);
    CHECK_FALSE(instruction.op.empty());
    CHECK_FALSE(instruction.ptx.empty());
    CHECK_FALSE(instruction.sass.empty());
    CHECK(instruction.results >= 32);
    CHECK(instruction.usual_latency > 0);
  }
  CHECK(ids.size() > 80);
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

TEST_CASE("bounds are the published rates, or what the schedulers issue", "[probes]") {
  const auto bound_of = [](std::string_view id, int major, int minor) {
    return instructions::throughput_bound(instruction_named(id), major, minor)->value;
  };
  CHECK(bound_of("ffma", 8, 0) == 64);
  CHECK(bound_of("ffma", 9, 0) == 128);
  CHECK(bound_of("hfma2", 9, 0) == 256);
  CHECK(bound_of("prmt", 9, 0) == 128);
  CHECK(bound_of("mufu_rcp", 9, 0) == 16);
  CHECK(bound_of("mma_f16_k16", 8, 0) == 1024);
  CHECK(bound_of("wgmma_f16_n256_shared", 9, 0) == 2048);
  CHECK(bound_of("hfma2", 10, 0) == 128);
  CHECK(bound_of("iadd3", 12, 0) == 64);  // of three operands
  CHECK(bound_of("shfl_bfly", 7, 5) == 16);
  CHECK(bound_of("f2i_i2f", 9, 0) == 16);  // the slower of the two conversions
  CHECK(bound_of("redux", 9, 0) == 128);   // not published: what the schedulers issue
  CHECK_FALSE(instruction_named("wgmma_s8_n64_shared").runs_on(10, 0));
  CHECK_FALSE(instruction_named("mma_f16_k16").runs_on(7, 5));
  CHECK(instruction_named("mma_f16_k8").runs_on(7, 5));
  CHECK(instruction_named("mma_e4m3_k32").runs_on(8, 9));
  CHECK_FALSE(instruction_named("mma_e4m3_k32").runs_on(9, 0));
  CHECK(instruction_named("mma_e4m3_k32").runs_on(12, 0));
}
