// What probes conclude. Facts that have a value: recording_conclude_test.cpp.

#include "probes/atomics/patterns.h"
#include "probes/claims.h"
#include "probes/energy/loops.h"
#include "probes/instructions/instructions.h"
#include "results/document_io.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::fact;
using namespace fathom::instructions;

TEST_CASE("without entries a probe has no answer, and each fact says why it has no value",
          "[probes]") {
  // How many facts and claims each states.
  for (const auto& [probe, statements] : {std::pair{"atomics", 112u},
                                          {"bank_conflicts", 12},
                                          {"copy_bandwidth", 11},
                                          {"energy", 33},
                                          {"instructions", 192},
                                          {"launch_overhead", 21},
                                          {"links", 26},
                                          {"memory_bandwidth", 40},
                                          {"memory_latency", 70},
                                          {"model_validation", 1},
                                          {"occupancy", 4},
                                          {"tail_effect", 1},
                                          {"topology", 20},
                                          {"warp_reduce", 3}}) {
    CAPTURE(probe);
    const Findings findings = planted::checked(conclusion_of(probe)({}));
    CHECK(findings.answer.empty());
    CHECK(findings.facts.size() + findings.claims.size() == statements);
    for (const Fact& fact : findings.facts) CHECK_FALSE(fact.value);
    for (const Claim& claim : findings.claims)  // L1 rests on publications alone
      CHECK((claim.verdict == ClaimVerdict::not_measured) == (claim.id != "L1"));
  }
  CHECK_FALSE(conclusion_of("another"));
  const Findings launches = conclusion_of("launch_overhead")({});
  CHECK_THAT(planted::fact(launches, "launch.graph_pdl_gap").reason, contains("9.0"));
}

TEST_CASE("a fact about atomics without a value says why", "[probes]") {
  Entry failed = planted::entry("failed",
                                {{"sweep", "operations"},
                                 {"instruction", "atom.gpu.global.add.u32"},
                                 {"pattern", atomics::own_words}},
                                0);
  failed.metric.value.reset();
  failed.verdict.reasons = {"3 of 64 words hold another result"};
  const Findings findings = planted::checked(atomics::conclude(std::vector{failed}));
  CHECK(fact(findings, "l2.atomic_add_throughput").reason == "3 of 64 words hold another result");
  CHECK_THAT(fact(findings, "l2.atomic_exch_b128_throughput").reason, contains("9.0"));
  CHECK_THAT(fact(findings, "dsmem.atomic_add_throughput").reason, contains("9.0"));
  CHECK_THAT(fact(findings, "l2.atomic_add_u64_throughput").reason, contains("left out"));
  CHECK(findings.answer.empty());
}

TEST_CASE("without the active idle only the gross energy is known, and a failure is told",
          "[probes]") {
  std::vector run{planted::entry("rest/idle", {{"id", "idle"}}, 80, Better::lower),
                  planted::entry("memory/l2", {{"id", "l2"}}, 40e-12, Better::lower)};
  run[0].metric.value.reset();
  run[0].verdict.reasons = {"there is no counter"};
  const Findings findings = planted::checked(energy::conclude(run));
  CHECK(fact(findings, "idle.power").reason == "there is no counter");
  CHECK_FALSE(fact(findings, "l2.energy_per_byte").value);
  CHECK_THAT(fact(findings, "l2.energy_per_byte").reason, contains("active idle"));
  CHECK(*fact(findings, "l2.gross_energy_per_byte").value == Approx(40e-12));
}

TEST_CASE("the loops of energy name instructions that exist", "[probes]") {
  std::set<std::string_view> ids;
  for (const auto& instruction : instructions::all_instructions()) ids.insert(instruction.id);
  for (const energy::InstructionLoop& loop : energy::instruction_loops) {
    CAPTURE(loop.id);
    CHECK_FALSE(loop.instructions[0].empty());
    for (const std::string_view id : loop.instructions) CHECK((id.empty() || ids.contains(id)));
  }
}

TEST_CASE("R3 shows the published block stage with ones and with random data", "[probes]") {
  using enum ClaimVerdict;
  using warp_reduce::conclude;
  const auto stage = [](const char* data, double wrong) {
    Entry e = planted::entry(data, {{"part", "block stage"}, {"data", data}}, wrong, Better::lower);
    e.extras["blocks"] = 64;
    return e;
  };
  planted::check_verdicts(conclude, "R3",
                          {{conditional, {stage("ones", 0), stage("random", 64)}},
                           {confirmed, {stage("ones", 0), stage("random", 0)}},
                           {refuted, {stage("ones", 1), stage("random", 64)}},
                           {not_measured, {stage("ones", 0)}}});
  CHECK_THAT(
      planted::claim(conclude(std::vector{stage("ones", 0), stage("random", 64)}).claims, "R3")
          .figure,
      contains("of 64 blocks it adds up 0 wrong with ones, and 64 with random data"));
}

TEST_CASE("two groups are told from one", "[results]") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<double> two, one, flat;
  for (int i = 0; i < 5000; ++i) {
    two.push_back((i % 4 == 0 ? 270 : 210) + 8 * normal(random));
    one.push_back(240 + 30 * normal(random));
    flat.push_back(200 + 80 * uniform(random));
  }
  two.push_back(9000);  // a refresh is no group
  const TwoGroups groups = two_groups(two);
  CHECK(groups.separation > bimodal_separation);
  CHECK_THAT(groups.low, WithinAbs(210, 1));
  CHECK_THAT(groups.high, WithinAbs(270, 1));
  CHECK(two_groups(one).separation < bimodal_separation);
  CHECK(two_groups(flat).separation < bimodal_separation);
  const TwoGroups alike = two_groups(std::vector<double>(100, 33.0));
  CHECK(alike.separation == 0);
  CHECK(alike.low == 33.0);
  CHECK_THROWS_AS(two_groups({}), std::invalid_argument);
}

TEST_CASE("without counters the clocks decide", "[probes]") {
  Document recorded = read_document(FATHOM_SOURCE_DIR "/recordings/h200/result.json");
  auto& entries = recorded.entries;
  std::erase_if(entries, [](const Entry& e) { return e.probe != "bank_conflicts"; });
  for (Entry& e : entries) e.counters.clear();
  auto slower = entries;
  named(slower, &Entry::name, "bank_conflicts/load/bits:64/pairs:i^2").metric.value = 2.01;
  planted::check_verdicts(bank_conflicts::conclude, "S4",
                          {{ClaimVerdict::confirmed, entries}, {ClaimVerdict::refuted, slower}});
}

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
