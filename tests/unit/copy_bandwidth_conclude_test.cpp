#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>

#include "probes/claims.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;

namespace {

using I = std::int64_t;

Claim claim_of(const std::vector<Entry>& entries, const char* id) {
  return planted::claim(copy_bandwidth::conclude(entries).claims, id);
}

ClaimVerdict verdict_of(const std::vector<Entry>& entries, const char* id) {
  return claim_of(entries, id).verdict;
}

Entry width(I bytes, I block, double bandwidth, double sectors = 0, double requests = 0) {
  Entry e = planted::entry("width" + std::to_string(bytes) + "/" + std::to_string(block),
                           {{"sweep", "width"}, {"bytes per thread", bytes}, {"block", block}},
                           bandwidth);
  if (sectors > 0) {
    planted::add_counter(e, "global_load_sectors", sectors, sectors);
    planted::add_counter(e, "global_load_requests", requests, requests);
    planted::add_counter(e, "global_load_instructions", requests, requests);
  }
  return e;
}

/// "loop": each element stored before the next is loaded; "unroll": all loaded before.
Entry looped(I unroll, double bandwidth, const char* sweep = "loop") {
  return planted::entry(
      sweep, {{"sweep", sweep}, {"type", "half"}, {"unroll", unroll}, {"block", I{1024}}},
      bandwidth);
}

/// Two bytes a thread, with this much of an SM's warps achieved.
Entry narrow(I block, double bandwidth, double occupancy) {
  Entry e = width(2, block, bandwidth);
  planted::add_counter(e, "achieved_occupancy", occupancy, occupancy);
  return e;
}

std::vector<Entry> wide(double b4, double b8, double b16, double b32) {
  return {width(4, 1024, b4), width(8, 1024, b8), width(16, 1024, b16), width(32, 1024, b32)};
}

std::vector<Entry> with(std::vector<Entry> entries, std::vector<Entry> more) {
  entries.insert(entries.end(), more.begin(), more.end());
  return entries;
}

Entry tail(I more, double bandwidth) {
  return planted::entry("tail", {{"sweep", "tail"}, {"type", "float"}, {"elements beyond n", more}},
                        bandwidth);
}

Entry rows(const char* read, double bandwidth, double instructions) {
  Entry e = planted::entry(read, {{"sweep", "rows"}, {"lanes read", read}}, bandwidth);
  planted::add_counter(e, "global_load_instructions", instructions, instructions);
  return e;
}

Entry place(const char* sweep, I at, double bandwidth, double sectors) {
  Entry e = planted::entry(sweep,
                           {{"sweep", sweep},
                            {"strided", "loads"},
                            {"bytes per thread", I{4}},
                            {"base offset (B)", at},
                            {"stride (packs)", at}},
                           bandwidth);
  planted::add_counter(e, "global_load_sectors", sectors, sectors);
  planted::add_counter(e, "global_load_requests", 1, 1);
  return e;
}

}  // namespace

TEST_CASE("without entries nothing is answered", "[probes][copy_bandwidth]") {
  const Findings findings = copy_bandwidth::conclude({});
  CHECK(findings.answer.empty());
  CHECK(findings.claims.size() == 11);
  for (const Claim& claim : findings.claims) CHECK(claim.verdict == ClaimVerdict::not_measured);
}

TEST_CASE("V1 to V4 compare widths", "[probes][copy_bandwidth]") {
  CHECK(verdict_of(wide(921, 923, 921, 920), "V1") == ClaimVerdict::confirmed);
  CHECK(verdict_of(wide(2292, 3519, 4136, 3986), "V1") == ClaimVerdict::refuted);
  CHECK(verdict_of({width(4, 1024, 1)}, "V1") == ClaimVerdict::not_measured);

  const auto even = wide(921, 923, 921, 920);
  CHECK(verdict_of(with(even, {width(2, 1024, 806)}), "V2") == ClaimVerdict::confirmed);
  CHECK(verdict_of(with(even, {width(2, 1024, 915)}), "V2") == ClaimVerdict::refuted);
  CHECK(verdict_of(even, "V2") == ClaimVerdict::not_measured);

  CHECK(verdict_of(with(even, {narrow(1024, 806, 37), narrow(256, 917, 80)}), "V3") ==
        ClaimVerdict::confirmed);
  CHECK(verdict_of(with(even, {narrow(1024, 806, 37), narrow(256, 850, 80)}), "V3") ==
        ClaimVerdict::refuted);
  // More than one block of 1024 fits: 256 threads allow no more warps.
  CHECK(verdict_of(with(even, {narrow(1024, 806, 69), narrow(256, 917, 80)}), "V3") ==
        ClaimVerdict::does_not_apply);
  CHECK(verdict_of(with(even, {width(2, 1024, 806), width(2, 256, 917)}), "V3") ==
        ClaimVerdict::not_measured);

  CHECK(verdict_of(with(even, {width(2, 1024, 806), looped(4, 850), looped(16, 910)}), "V4") ==
        ClaimVerdict::confirmed);
  CHECK(verdict_of(with(even, {width(2, 1024, 806), looped(4, 850)}), "V4") ==
        ClaimVerdict::refuted);
  // Loads before the stores are another kernel: shown, and decide nothing.
  const Claim batched =
      claim_of(with(even, {width(2, 1024, 806), looped(16, 910, "unroll")}), "V4");
  CHECK(batched.verdict == ClaimVerdict::not_measured);
  CHECK(batched.figure.find("with 16 elements") != std::string::npos);
}

TEST_CASE("V5 to V7 are answered by counters alone", "[probes][copy_bandwidth]") {
  constexpr double gib_sectors = 33554432;
  const auto sectors = [&](double of_two_bytes, double of_32) {
    return std::vector<Entry>{width(2, 1024, 1, of_two_bytes, gib_sectors / 2),
                              width(4, 1024, 1, gib_sectors, gib_sectors / 4),
                              width(8, 1024, 1, gib_sectors, gib_sectors / 8),
                              width(16, 1024, 1, gib_sectors, gib_sectors / 16),
                              width(32, 1024, 1, of_32, gib_sectors / 16)};
  };
  const auto batch = [&](double bandwidth) {
    Entry e = looped(16, bandwidth, "unroll");
    planted::add_counter(e, "global_load_requests", gib_sectors / 2, gib_sectors / 2);
    return e;
  };
  for (const char* id : {"V5", "V6", "V7"}) {
    CAPTURE(id);
    CHECK(verdict_of(with(sectors(gib_sectors, 2 * gib_sectors), {batch(0.8)}), id) ==
          ClaimVerdict::confirmed);
    CHECK(verdict_of(wide(1, 1, 1, 1), id) == ClaimVerdict::not_measured);
  }
  // Faster with four times the requests of 8 bytes a thread: not "only" by fewer.
  CHECK(verdict_of(with(sectors(gib_sectors, 2 * gib_sectors), {batch(1.2)}), "V7") ==
        ClaimVerdict::refuted);
  // A batch whose requests nobody counted is no evidence for "only".
  CHECK(verdict_of(with(sectors(gib_sectors, 2 * gib_sectors), {looped(16, 1.2, "unroll")}),
                   "V7") == ClaimVerdict::not_measured);
  CHECK(verdict_of(sectors(gib_sectors + 1, 2 * gib_sectors), "V5") == ClaimVerdict::refuted);
  CHECK(verdict_of(sectors(gib_sectors, gib_sectors), "V6") == ClaimVerdict::refuted);

  Entry refused = width(2, 1024, 1);
  Counter counter;
  counter.role = "global_load_sectors";
  counter.reason = "the driver reserves counters for administrators";
  refused.counters.push_back(counter);
  const Claim claim =
      claim_of({refused, width(4, 1024, 1), width(8, 1024, 1), width(16, 1024, 1)}, "V5");
  CHECK(claim.verdict == ClaimVerdict::not_measured);
  CHECK(claim.figure.find(counter.reason) != std::string::npos);
}

TEST_CASE("V8 needs samples at the load and the store", "[probes][copy_bandwidth]") {
  const auto sampled = [](double load, double store, double wide_store = 20) {
    Entry e = width(2, 1024, 1);
    planted::add_counter(e, "stall_share_load", load, load);
    planted::add_counter(e, "stall_share_store", store, store);
    planted::add_counter(e, "stall_share_store_long_scoreboard", store / 2, store / 2);
    Entry wide = width(16, 1024, 1);
    planted::add_counter(wide, "stall_share_store", wide_store, wide_store);
    return std::vector<Entry>{e, wide};
  };
  // As much with 16 bytes: the stall is no matter of the width.
  CHECK(verdict_of(sampled(10, 80, 80), "V8") == ClaimVerdict::refuted);
  CHECK(verdict_of({sampled(10, 80).front()}, "V8") == ClaimVerdict::not_measured);
  CHECK(verdict_of(sampled(10, 80), "V8") == ClaimVerdict::confirmed);
  CHECK(verdict_of(sampled(80, 10), "V8") == ClaimVerdict::refuted);
  CHECK(verdict_of(sampled(0, 0), "V8") == ClaimVerdict::not_measured);
  CHECK(verdict_of({width(2, 1024, 1)}, "V8") == ClaimVerdict::not_measured);
  CHECK(claim_of(sampled(10, 80), "V8").figure.find("brings in 40.0 %") != std::string::npos);
}

TEST_CASE("V9 needs sectors that follow alignment and stride, and the stride's cost",
          "[probes][copy_bandwidth]") {
  const auto places = [](double shifted_sectors, double spread_bandwidth) {
    Entry misaligned = planted::entry("misaligned", {{"sweep", "misaligned"}}, 0);
    misaligned.extras["faults"] = 1;
    return std::vector<Entry>{place("offset", 0, 100, 4), place("offset", 4, 98, shifted_sectors),
                              place("offset", 32, 100, 4), place("stride", 8, spread_bandwidth, 32),
                              misaligned};
  };
  std::vector<Entry> not_run = places(5, 30);
  not_run.pop_back();
  CHECK(verdict_of(not_run, "V9") == ClaimVerdict::not_measured);
  CHECK(verdict_of(places(5, 30), "V9") == ClaimVerdict::confirmed);
  CHECK(verdict_of(places(4, 30), "V9") == ClaimVerdict::refuted);
  CHECK(verdict_of(places(5, 100), "V9") == ClaimVerdict::refuted);
  CHECK(verdict_of({place("offset", 0, 100, 4)}, "V9") == ClaimVerdict::not_measured);
}

TEST_CASE("V10 and V11 compare bandwidths", "[probes][copy_bandwidth]") {
  CHECK(verdict_of({tail(0, 100), tail(-1, 99.5), tail(1, 99.8)}, "V10") ==
        ClaimVerdict::confirmed);
  CHECK(verdict_of({tail(0, 100), tail(-1, 94), tail(1, 100)}, "V10") == ClaimVerdict::refuted);
  CHECK(verdict_of({tail(0, 100), tail(1, 100)}, "V10") == ClaimVerdict::not_measured);
  const Claim of_nan = claim_of({tail(0, NAN), tail(-1, 94), tail(1, 100)}, "V10");
  CHECK(of_nan.verdict == ClaimVerdict::not_measured);
  CHECK(of_nan.figure.find("0 % lost") == std::string::npos);

  CHECK(verdict_of({rows("along", 110, 8), rows("across", 15, 8)}, "V11") ==
        ClaimVerdict::confirmed);
  CHECK(verdict_of({rows("along", 110, 8), rows("across", 100, 8)}, "V11") ==
        ClaimVerdict::refuted);
  CHECK(verdict_of({rows("along", 110, 8), rows("across", 15, 9)}, "V11") == ClaimVerdict::refuted);
  CHECK(verdict_of({rows("along", 110, 8)}, "V11") == ClaimVerdict::not_measured);
}

TEST_CASE("the answer is the largest size's best copy against the faster library",
          "[probes][copy_bandwidth]") {
  const auto best = [](I size, I block, double bandwidth) {
    Entry e = planted::entry("best",
                             {{"sweep", "best"},
                              {"size", size},
                              {"block", block},
                              {"bytes per thread", I{16}},
                              {"load hint", "L2::evict_last"}},
                             bandwidth);
    e.bound = Bound{5e12, ""};
    Opponent slower, faster;
    slower.name = "slow library";
    slower.value = 3.9e12;
    slower.ratio = 1.1;
    faster.name = "fast library";
    faster.value = 4.2e12;
    faster.ratio = 1.02;
    e.opponents = {slower, faster};
    return e;
  };
  constexpr I gib = I{1} << 30;
  const std::string answer =
      copy_bandwidth::conclude(std::vector<Entry>{best(gib, 256, 4.5e12),
                                                  best(4 * gib, 256, 4.3e12),
                                                  best(4 * gib, 320, 4.4e12)})
          .answer;
  CAPTURE(answer);
  CHECK(answer.find("4.4 TB/s") != std::string::npos);
  CHECK(answer.find("4 GiB") != std::string::npos);
  CHECK(answer.find("88 %") != std::string::npos);
  CHECK(answer.find("1.020 x") != std::string::npos);
  CHECK(answer.find("fast library") != std::string::npos);
  CHECK(answer.find("320 threads") != std::string::npos);
}
