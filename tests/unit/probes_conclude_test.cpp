// What probes conclude. Facts that have a value: recording_conclude_test.cpp.

#include "probes/atomics/patterns.h"
#include "probes/bank_conflicts/patterns.h"
#include "probes/claims.h"
#include "probes/energy/loops.h"
#include "probes/instructions/instructions.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::fact;

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

TEST_CASE("O2 has a control for launches and one for imbalance", "[probes]") {
  const auto at = [](const char* turned, const char* grid, std::int64_t in_flight, double share) {
    Entry e = planted::entry(std::string(grid) + turned,
                             {{"turned", turned},
                              {"grid", grid},
                              {"16-byte loads in flight", in_flight},
                              {"block", std::int64_t{1024}},
                              {"theoretical occupancy (%)", 100.0}},
                             1);
    e.extras = {{"model_blocks_per_sm", 2}, {"driver_blocks_per_sm", 2}, {"theoretical_warps", 64}};
    planted::add_counter(e, "achieved_occupancy", 100 * share);
    return e;
  };
  using enum ClaimVerdict;
  const std::string ended =
      "lower, at most 60 %; with long-lived blocks no longer at 1 load, no longer at 4; in whole "
      "waves ";
  // What the page shows, the first 110 characters, says which control leaves it.
  for (const auto& [usual, whole, lasting, verdict, words] :
       {std::tuple{0.6, 0.97, 0.97, confirmed, ended + "no longer; "},
        {0.6, 0.6, 0.97, conditional, ended + "still; "},
        {0.6, 0.97, 0.6, conditional, "lower, at most 60 %; "},
        {0.97, 0.97, 0.97, refuted, "not lower, at most 97 %; "},
        {0.97, 0.6, 0.6, refuted, "not lower, at most 97 %; "}}) {
    const std::vector entries{at("block size", "one-shot", 1, usual),
                              at("block size", "whole waves", 1, whole),
                              at("shared memory", "persistent", 1, lasting),
                              at("shared memory", "persistent", 4, lasting)};
    planted::check_verdicts(conclusion_of("occupancy"), "O2", {{verdict, entries}});
    CHECK_THAT(planted::claim(conclusion_of("occupancy")(entries).claims, "O2").figure,
               StartsWith(words));
    CHECK(words.size() <= 112);
  }
  planted::check_verdicts(conclusion_of("occupancy"), "O2",
                          {{not_measured, {at("block size", "one-shot", 1, 0.6)}}});
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

TEST_CASE("T1 covers every kind of block", "[probes]") {
  /// Time by waves of each kind, as a staircase or in proportion.
  const auto run = [](const std::vector<std::pair<const char*, bool>>& kinds) {
    std::vector<Entry> entries;
    for (const auto& [kind, staircase] : kinds)
      for (double waves = 0.25; waves <= 4; waves += 0.25)
        entries.push_back(planted::entry(
            std::string(kind) + std::to_string(waves), {{"block kind", kind}, {"waves", waves}},
            50e-6 * (staircase ? std::ceil(waves) : waves), Better::lower));
    return entries;
  };
  const auto all = [&](bool latency, bool others) {
    return run(
        {{"latency-bound", latency}, {"throughput-bound", others}, {"memory-bound", others}});
  };
  using enum ClaimVerdict;
  planted::check_verdicts(tail_effect::conclude, "T1",
                          {{confirmed, all(true, true)},
                           {refuted, all(false, false)},
                           {conditional, all(true, false)},
                           {not_measured, run({{"latency-bound", true}})}});
  CHECK_THAT(planted::claim(tail_effect::conclude(all(true, false)).claims, "T1").figure,
             contains("1.000 for latency-bound") && contains("0.750 where they share DRAM"));
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
  CHECK_THAT(groups.high_share, WithinAbs(0.25, 0.02));
  CHECK(two_groups(one).separation < bimodal_separation);
  CHECK(two_groups(flat).separation < bimodal_separation);
  const TwoGroups alike = two_groups(std::vector<double>(100, 33.0));
  CHECK(alike.separation == 0);
  CHECK(alike.low == 33.0);
  CHECK_THROWS_AS(two_groups({}), std::invalid_argument);
}

namespace {

/// What a GPU that does exactly what the model says would give.
std::vector<Entry> ideal_entries() {
  std::vector<Entry> entries;
  for (const auto op : {models::Access::load, models::Access::store}) {
    const std::string name = op == models::Access::load ? "load" : "store";
    for (const int bytes : {4, 8, 16}) {
      for (const auto& pattern : bank_conflicts::patterns(op, bytes)) {
        // Literally what is claimed, for loads and stores alike.
        const int wavefronts = bank_conflicts::claimed_wavefronts(pattern.access);
        Entry e = planted::entry(name + "/" + std::to_string(bytes * 8) + "/" + pattern.name,
                                 {{"operation", name},
                                  {"bits", std::int64_t{bytes} * 8},
                                  {"family", pattern.family},
                                  {"pattern", pattern.name}},
                                 wavefronts * 1.004, Better::lower);
        e.expected = Expectation{static_cast<double>(wavefronts), 0.02, "test"};
        e.extras["claimed_wavefronts"] = wavefronts;
        e.extras["accesses"] = 1000;
        e.extras["filling_stores"] = 8;
        e.extras["useful_bytes_per_access"] =
            bytes * static_cast<double>(__builtin_popcount(pattern.access.active_mask));
        planted::add_counter(e, "shared_" + name + "_wavefronts", 1000 * wavefronts + 8,
                             1000 * wavefronts + 8);
        planted::add_counter(e, "shared_" + name + "_conflicts", 0, 0);
        entries.push_back(std::move(e));
      }
    }
  }
  return entries;
}

}  // namespace

TEST_CASE("one wavefront more refutes the claim it belongs to, and only that", "[probes]") {
  auto entries = ideal_entries();
  named(entries, &Entry::name, "store/64/pairs:i^1").counters[0].value = 2 * 1000 + 8;
  named(entries, &Entry::name, "load/32/column:padded").counters[0].value = 2 * 1000 + 8;
  named(entries, &Entry::name, "load/64/stride:2").counters[1].value = 32;
  using enum ClaimVerdict;
  for (const auto& [claim, verdict] : {std::pair{"S4 (stores)", refuted},
                                       {"S4", confirmed},
                                       {"S8", refuted},
                                       {"S2", refuted},
                                       {"S6", refuted},
                                       {"S5", confirmed}})
    planted::check_verdicts(bank_conflicts::conclude, claim, {{verdict, entries}});
}

TEST_CASE("without counters the clocks decide", "[probes]") {
  auto entries = ideal_entries();
  for (Entry& e : entries) e.counters.clear();
  auto slower = entries;
  named(slower, &Entry::name, "load/64/pairs:i^2").metric.value = 2.01;
  planted::check_verdicts(bank_conflicts::conclude, "S4",
                          {{ClaimVerdict::confirmed, entries}, {ClaimVerdict::refuted, slower}});
}
