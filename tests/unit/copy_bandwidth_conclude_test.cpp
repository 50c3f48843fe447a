#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using enum ClaimVerdict;

namespace {

using I = std::int64_t;

std::string figure_of(const char* id, const std::vector<Entry>& entries) {
  return planted::claim(copy_bandwidth::conclude(entries).claims, id).figure;
}

void check_verdicts(const char* id, const std::vector<planted::VerdictOf>& rows) {
  planted::check_verdicts(copy_bandwidth::conclude, id, rows);
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
Entry narrow(I block, double bandwidth, double occupancy, double resident = NAN) {
  Entry e = width(2, block, bandwidth);
  if (resident > 0) e.extras["resident_threads_per_sm"] = resident;
  planted::add_counter(e, "achieved_occupancy", occupancy, occupancy);
  return e;
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

TEST_CASE("V1 to V4 compare widths", "[probes][copy_bandwidth]") {
  const std::vector even{width(4, 1024, 921), width(8, 1024, 923), width(16, 1024, 921),
                         width(32, 1024, 920)};
  const auto and_even = [&](const std::vector<Entry>& more) { return with(even, more); };
  check_verdicts("V1", {{confirmed, even},
                        {refuted, {width(4, 1024, 500), even[1], even[2], even[3]}},
                        {not_measured, {width(4, 1024, 1)}}});
  check_verdicts("V2", {{confirmed, and_even({width(2, 1024, 806)})},
                        {refuted, and_even({width(2, 1024, 915)})},
                        {not_measured, even}});
  check_verdicts(
      "V3", {{confirmed, and_even({narrow(1024, 806, 37), narrow(256, 917, 80)})},
             {refuted, and_even({narrow(1024, 806, 37), narrow(256, 850, 80)})},
             // More than one block of 1024 fits: 256 threads allow no more warps.
             {does_not_apply, and_even({narrow(1024, 806, 69), narrow(256, 917, 80)})},
             // What may be resident says it, however few warps were achieved.
             {confirmed, and_even({narrow(1024, 806, 69, 1024), narrow(256, 917, 80, 1536)})},
             {does_not_apply, and_even({narrow(1024, 806, 60, 2048), narrow(256, 917, 80, 2048)})},
             {not_measured, and_even({width(2, 1024, 806), width(2, 256, 917)})}});
  // Loads before the stores are another kernel: shown, and decide nothing.
  const auto batched = and_even({width(2, 1024, 806), looped(16, 910, "unroll")});
  check_verdicts("V4",
                 {{confirmed, and_even({width(2, 1024, 806), looped(4, 850), looped(16, 910)})},
                  {refuted, and_even({width(2, 1024, 806), looped(4, 850)})},
                  {not_measured, batched}});
  CHECK_THAT(figure_of("V4", batched), contains("with 16 elements"));
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
  const auto usual = sectors(gib_sectors, 2 * gib_sectors);
  for (const char* id : {"V5", "V6", "V7"})
    check_verdicts(id,
                   {{confirmed, with(usual, {batch(0.8)})}, {not_measured, {width(4, 1024, 1)}}});
  // Faster with four times the requests of 8 bytes a thread: not "only" by fewer. A batch whose
  // requests nobody counted is no evidence for "only".
  check_verdicts("V7", {{refuted, with(usual, {batch(1.2)})},
                        {not_measured, with(usual, {looped(16, 1.2, "unroll")})}});
  check_verdicts("V5", {{refuted, sectors(gib_sectors + 1, 2 * gib_sectors)}});
  check_verdicts("V6", {{refuted, sectors(gib_sectors, gib_sectors)}});
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
  check_verdicts("V8", {{confirmed, sampled(10, 80)},
                        // As much with 16 bytes: the stall is no matter of the width.
                        {refuted, sampled(10, 80, 80)},
                        {refuted, sampled(80, 10)},
                        {not_measured, {sampled(10, 80).front()}},
                        {not_measured, sampled(0, 0)},
                        {not_measured, {width(2, 1024, 1)}}});
  CHECK_THAT(figure_of("V8", sampled(10, 80)), contains("brings in 40.0 %"));
}

TEST_CASE("V9 needs sectors that follow alignment and stride, and the stride's cost",
          "[probes][copy_bandwidth]") {
  const auto places = [](double shifted_sectors, double spread_bandwidth, double faults = 1) {
    Entry misaligned = planted::entry("misaligned", {{"sweep", "misaligned"}}, 0);
    misaligned.extras["faults"] = faults;
    return std::vector<Entry>{place("offset", 0, 100, 4), place("offset", 4, 98, shifted_sectors),
                              place("offset", 32, 100, 4), place("stride", 8, spread_bandwidth, 32),
                              misaligned};
  };
  std::vector<Entry> not_run = places(5, 30);
  not_run.pop_back();
  check_verdicts("V9", {{not_measured, not_run},
                        {confirmed, places(5, 30)},
                        {refuted, places(4, 30)},
                        {refuted, places(5, 30, 0)},
                        {refuted, places(5, 100)},
                        {not_measured, {place("offset", 0, 100, 4)}}});
  const std::string load = "a 16-byte load 8 bytes off its alignment is ";
  CHECK_THAT(figure_of("V9", places(5, 30)), StartsWith(load + "refused; a warp's"));
  CHECK_THAT(figure_of("V9", places(5, 30, 0)), StartsWith(load + "not refused; a warp's"));
  // The process could not run: its entry says why, and the claim with it.
  std::vector<Entry> no_outcome = places(5, 30, NAN);
  no_outcome.back().extras.clear();
  no_outcome.back().metric.value.reset();
  Counter faults;
  faults.role = "faults";
  faults.reason = "the process ended with exit code 17";
  no_outcome.back().counters = {faults};
  check_verdicts("V9", {{not_measured, no_outcome}});
  CHECK_THAT(
      figure_of("V9", no_outcome),
      StartsWith("the process ended with exit code 17; a warp's") && !contains("not measured"));
}

TEST_CASE("V10 and V11 compare bandwidths", "[probes][copy_bandwidth]") {
  const std::vector of_nan{tail(0, NAN), tail(-1, 94), tail(1, 100)};
  check_verdicts("V10", {{confirmed, {tail(0, 100), tail(-1, 99.5), tail(1, 99.8)}},
                         {refuted, {tail(0, 100), tail(-1, 94), tail(1, 100)}},
                         {not_measured, {tail(0, 100), tail(1, 100)}},
                         {not_measured, of_nan}});
  CHECK_THAT(figure_of("V10", of_nan), !contains("0 % lost"));
  check_verdicts("V11", {{confirmed, {rows("along", 110, 8), rows("across", 15, 8)}},
                         {refuted, {rows("along", 110, 8), rows("across", 100, 8)}},
                         {refuted, {rows("along", 110, 8), rows("across", 15, 9)}},
                         {not_measured, {rows("along", 110, 8)}}});
}
