#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::check_values;
using planted::fact;

namespace {

Entry noisy(Axes axes, double value) {
  Entry e = planted::noisy(std::move(axes), value, "B/s", Better::higher);
  e.interval = Interval{0.999 * value, 1.001 * value, 0.95, "planted"};
  return e;
}

Entry level(const char* name, const char* operation, const char* instruction, double value,
            std::int64_t width = 16) {
  Entry e = noisy({{"sweep", "level"},
                   {"level", name},
                   {"operation", operation},
                   {"instruction", instruction},
                   {"width (B)", width},
                   {"warps per SM", std::int64_t{32}},
                   {"sharing", "each warp its part"}},
                  value);
  e.extras["bytes_moved"] = 4e9;
  return e;
}

void add_sms(std::vector<Entry>& entries, const char* name, double best, int saturating) {
  for (int n = 4; n <= 132; n += 4)
    entries.push_back(noisy({{"sweep", "SMs"}, {"level", name}, {"SMs", std::int64_t{n}}},
                            best * std::min(1.0, static_cast<double>(n) / saturating)));
}

Findings concluded(const std::vector<Entry>& entries) {
  return planted::checked(memory_bandwidth::conclude(entries));
}

}  // namespace

TEST_CASE("loads that the L1 may have served say nothing of the L2", "[probes][memory_bandwidth]") {
  const Entry cg = level("L2", "load", "ld.global.cg", 5.6e12);
  Entry inflated = level("L2", "load", "ld.global.L1::no_allocate", 9.9e12);
  // Not counted, then counted as hits.
  CHECK(fact(concluded({cg, inflated}), "l2.bandwidth").value == 5.6e12);
  planted::add_counter(inflated, "l1_hit_rate", 30, 0);
  CHECK(fact(concluded({cg, inflated}), "l2.bandwidth").value == 5.6e12);
  inflated.counters.back().value = 0.01;
  CHECK(fact(concluded({cg, inflated}), "l2.bandwidth").value == 9.9e12);
}

TEST_CASE("bytes that the L2 read once for several SMs are not its bandwidth",
          "[probes][memory_bandwidth]") {
  const Entry own = level("L2", "load", "ld.global.cg", 8.8e12);
  Entry shared = level("L2", "load", "ld.global.cg", 10.8e12);
  shared.axes.back().second = "every SM everything";
  shared.extras["share_of_l2"] = 1.0 / 3;
  // Not counted, then counted as merged, then as read in full.
  CHECK(fact(concluded({own, shared}), "l2.bandwidth").value == 8.8e12);
  planted::add_counter(shared, "global_load_sectors", 1000, 0);
  planted::add_counter(shared, "l2_read_sectors", 814, 0);
  const Findings merged = concluded({own, shared});
  CHECK(fact(merged, "l2.bandwidth").value == 8.8e12);
  const Fact& kind = fact(merged, "l2.bandwidth_cg_shared_set");
  CHECK(kind.value == 10.8e12);
  CHECK_THAT(kind.method, contains("the L2 read 81.4 %"));
  shared.counters.back().value = 1000;
  const Findings whole = concluded({own, shared});
  CHECK(fact(whole, "l2.bandwidth").value == 10.8e12);
  CHECK_THAT(fact(whole, "l2.bandwidth_cg_shared_set").method, !contains("the L2 read"));
  // And of a grid with one tile a warp, whose SMs overlap by chance.
  Entry tiles = level("L2", "load", "ld.global.cg", 9.8e12);
  tiles.axes.back().second = "each warp one tile";
  const Findings with_tiles = concluded({own, tiles});
  check_values(with_tiles, {{"l2.bandwidth", 9.8e12}, {"l2.bandwidth_many_blocks", 9.8e12}});
}

TEST_CASE("bytes per clock are by the reported clock where no warp read its own",
          "[probes][memory_bandwidth]") {
  Entry e = level("DRAM", "load", "ld.global.cg", 4.6e12);
  e.axes.emplace_back("SMs", std::int64_t{132});
  e.telemetry = {};
  CHECK_FALSE(fact(concluded({e}), "dram.bytes_per_clock").value);
  e.telemetry.sm_clock_hz = {1.98e9, 1.98e9, 1.98e9};
  const Findings findings = concluded({e});
  const Fact& per_clock = fact(findings, "dram.bytes_per_clock");
  CHECK_THAT(*per_clock.value, WithinRel(4.6e12 / (132 * 1.98e9), 1e-12));
  CHECK_THAT(per_clock.interval->high, WithinRel(1.001 * 4.6e12 / (132 * 1.98e9), 1e-12));
  CHECK(per_clock.unit == "B/clk");
  CHECK_THAT(per_clock.method, contains("clock reported"));
}

TEST_CASE("DRAM's bandwidth by counter needs the counter", "[probes][memory_bandwidth]") {
  Entry e = level("DRAM", "load", "ld.global.cg", 4.6e12);
  CHECK_FALSE(fact(concluded({e}), "dram.bandwidth_by_counter").value);
  planted::add_counter(e, "dram_read_bytes", 4.04e9, 4e9);
  e.counters.back().value.reset();
  e.counters.back().reason = "not permitted";
  CHECK(fact(concluded({e}), "dram.bandwidth_by_counter").reason == "not permitted");
}

TEST_CASE("a level that the fewest SMs saturate has no number of them",
          "[probes][memory_bandwidth]") {
  std::vector<Entry> entries;
  add_sms(entries, "DRAM", 4.6e12, 3);  // flat from the first point on
  CHECK_THAT(fact(concluded(entries), "dram.saturating_sms").reason, contains("enough already"));
}
