// What is concluded of copies where the recording does not say it (recording_conclude_test.cpp),
// nor how far its figures may move (claims_conclude_test.cpp).

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

Entry width(I bytes, I block, double bandwidth) {
  return planted::entry("width" + std::to_string(bytes) + "/" + std::to_string(block),
                        {{"sweep", "width"}, {"bytes per thread", bytes}, {"block", block}},
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

TEST_CASE("V1 is confirmed where widths are even, V3 where more warps are resident",
          "[probes][copy_bandwidth]") {
  const std::vector even{width(4, 1024, 921), width(8, 1024, 923), width(16, 1024, 921),
                         width(32, 1024, 920)};
  const auto and_even = [&](const std::vector<Entry>& more) { return with(even, more); };
  check_verdicts("V1", {{confirmed, even}});
  check_verdicts(
      "V3", {{confirmed, and_even({narrow(1024, 806, 37), narrow(256, 917, 80)})},
             {refuted, and_even({narrow(1024, 806, 37), narrow(256, 850, 80)})},
             // More than one block of 1024 fits: 256 threads allow no more warps.
             {does_not_apply, and_even({narrow(1024, 806, 69), narrow(256, 917, 80)})},
             // What may be resident says it, however few warps were achieved.
             {confirmed, and_even({narrow(1024, 806, 69, 1024), narrow(256, 917, 80, 1536)})},
             {does_not_apply, and_even({narrow(1024, 806, 60, 2048), narrow(256, 917, 80, 2048)})},
             {not_measured, and_even({width(2, 1024, 806), width(2, 256, 917)})}});
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

TEST_CASE("V10 is not decided by what is no figure", "[probes][copy_bandwidth]") {
  const std::vector of_nan{tail(0, NAN), tail(-1, 94), tail(1, 100)};
  check_verdicts("V10", {{not_measured, of_nan}});
  CHECK_THAT(figure_of("V10", of_nan), !contains("0 % lost"));
}
