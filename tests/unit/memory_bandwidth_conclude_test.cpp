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
  for (int n = 4; n <= 132; n += 4) {
    entries.push_back(noisy({{"sweep", "SMs"}, {"level", name}, {"SMs", std::int64_t{n}}},
                            best * std::min(1.0, static_cast<double>(n) / saturating)));
  }
}

Findings concluded(const std::vector<Entry>& entries) {
  return planted::checked(memory_bandwidth::conclude(entries));
}

}  // namespace

TEST_CASE("without entries every bandwidth says why it is missing", "[probes][memory_bandwidth]") {
  const Findings findings = concluded({});
  CHECK(findings.answer.empty());
  CHECK(findings.facts.size() > 25);
  for (const Fact& f : findings.facts) CHECK_FALSE(f.value);
}

TEST_CASE("a level's bandwidth is its best case at the headline's width",
          "[probes][memory_bandwidth]") {
  Entry best = level("L2", "load", "ld.global.L1::no_allocate", 9.9e12);
  best.extras["bytes_per_clock"] = 37.9;
  best.extras["bytes_per_clock_low"] = 37.8;
  best.extras["bytes_per_clock_high"] = 38.0;
  best.extras["sm_bound_bytes_per_clock"] = 64;
  best.bound = Bound{16.7e12, "port"};
  planted::add_counter(best, "l1_hit_rate", 0, 0);
  const std::vector<Entry> entries{level("L2", "load", "ld.global.cg", 5.6e12), best,
                                   level("L2", "load", "ld.global.cg", 99e12, 8),
                                   level("L2", "store", "st.global", 4e12),
                                   level("L2", "copy", "ld.global.cg, st.global", 7e12)};
  const Findings findings = concluded(entries);
  const Fact& bandwidth = fact(findings, "l2.bandwidth");
  CHECK(bandwidth.value == 9.9e12);
  CHECK(bandwidth.evidence == std::vector{best.name});
  CHECK_THAT(bandwidth.method, contains("no_allocate") && contains("best of 2"));
  CHECK(bandwidth.bound->value == 16.7e12);
  CHECK(bandwidth.counters.size() == 1);
  CHECK_FALSE(bandwidth.published.has_value());  // the harness knows what is published
  CHECK(fact(findings, "l2.bytes_per_clock").value == 37.9);
  CHECK(fact(findings, "l2.bytes_per_clock").interval->low == 37.8);
  CHECK(fact(findings, "l2.bytes_per_clock").bound->value == 64);
  check_values(findings, {{"l2.store_bandwidth", 4e12},
                          {"l2.mixed_bandwidth", 7e12},
                          {"l2.bandwidth_cg", 5.6e12},
                          {"l2.bandwidth_no_allocate", 9.9e12},
                          {"l1.bandwidth", {}}});
}

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

TEST_CASE("the register file's figure is also one of operands", "[probes][memory_bandwidth]") {
  Entry e = level("registers", "load", "fma.rn.f32", 261e12, 4);
  e.extras["bytes_per_clock"] = 1020;
  e.extras["sm_bound_bytes_per_clock"] = 1536;
  const Findings findings = concluded({e});
  CHECK_THAT(fact(findings, "registers.bytes_per_clock").method,
             contains("1.99 of the three operands"));
  CHECK_THAT(fact(findings, "registers.bandwidth").method, !contains("operands"));
}

TEST_CASE("working sets and sharing of the L2 are facts of their own",
          "[probes][memory_bandwidth]") {
  Entry small = level("L2", "load", "ld.global.cg", 5.6e12);
  small.extras["share_of_l2"] = 1.0 / 3;
  Entry large = level("L2", "load", "ld.global.cg", 5.1e12);
  large.extras["share_of_l2"] = 0.7;
  Entry shared = level("L2", "load", "ld.global.cg", 4.2e12);
  shared.extras["share_of_l2"] = 1.0 / 3;
  shared.axes.back().second = "every SM everything";
  check_values(concluded({small, large, shared}), {{"l2.bandwidth_cg", 5.6e12},
                                                   {"l2.bandwidth_cg_large_set", 5.1e12},
                                                   {"l2.bandwidth_cg_shared_set", 4.2e12},
                                                   {"l2.bandwidth_no_allocate", {}}});
}

TEST_CASE("levels that cannot be stored to say why", "[probes][memory_bandwidth]") {
  const Findings findings = concluded({level("L1", "load", "ld.global", 33e12),
                                       level("registers", "load", "fma.rn.f32", 400e12, 4)});
  CHECK_THAT(fact(findings, "l1.store_bandwidth").reason, contains("writes through"));
  check_values(findings, {{"l1.bandwidth", 33e12},
                          {"registers.bandwidth", 400e12},
                          {"registers.mixed_bandwidth", {}},
                          {"l1.bytes_per_clock", {}}});  // no clocks were planted
}

TEST_CASE("clusters have a bandwidth each", "[probes][memory_bandwidth]") {
  std::vector<Entry> entries;
  for (const std::int64_t size : {2, 4}) {
    entries.push_back(level("distributed shared", "load", "ld.shared::cluster", 6e12 / size));
    entries.back().axes.emplace_back("cluster size", size);
  }
  check_values(concluded(entries), {{"dsmem.bandwidth", 3e12},
                                    {"dsmem.bandwidth_cluster_2", 3e12},
                                    {"dsmem.bandwidth_cluster_4", 1.5e12},
                                    {"dsmem.bandwidth_cluster_8", {}}});
}

TEST_CASE("DRAM's bandwidth by counter is its bytes over the time", "[probes][memory_bandwidth]") {
  Entry e = level("DRAM", "load", "ld.global.cg", 4.6e12);
  CHECK_FALSE(fact(concluded({e}), "dram.bandwidth_by_counter").value);
  planted::add_counter(e, "dram_read_bytes", 4.04e9, 4e9);
  const Findings findings = concluded({e});
  const Fact& by_counter = fact(findings, "dram.bandwidth_by_counter");
  CHECK_THAT(*by_counter.value, WithinRel(4.6e12 * 1.01, 1e-9));
  CHECK_THAT(by_counter.interval->high, WithinRel(4.6e12 * 1.001 * 1.01, 1e-9));
  CHECK_THAT(by_counter.method, contains("1.0100"));
  e.counters.back().value.reset();
  e.counters.back().reason = "not permitted";
  CHECK(fact(concluded({e}), "dram.bandwidth_by_counter").reason == "not permitted");
}

TEST_CASE("the fewest SMs within 2 % of the best saturate", "[probes][memory_bandwidth]") {
  std::vector<Entry> entries;
  add_sms(entries, "DRAM", 4.6e12, 80);
  const Findings findings = concluded(entries);
  const Fact& sms = fact(findings, "dram.saturating_sms");
  CHECK(sms.value == 80);
  CHECK(sms.interval->low == 76);
  CHECK(sms.interval->high == 80);
  CHECK(sms.better == Better::lower);
  CHECK_FALSE(fact(findings, "l2.saturating_sms").value);

  entries.clear();
  add_sms(entries, "DRAM", 4.6e12, 3);  // flat from the first point on
  CHECK_THAT(fact(concluded(entries), "dram.saturating_sms").reason, contains("enough already"));
}

TEST_CASE("bytes in flight take the best of the grids that have as many",
          "[probes][memory_bandwidth]") {
  std::vector<Entry> entries;
  constexpr double latency = 500e-9, most = 4.6e12;  // 2.3 MB by Little's law
  for (const std::int64_t loads : {1, 2, 4}) {
    for (const std::int64_t warps : {1, 2, 4, 8, 16, 32}) {
      const std::int64_t bytes = 132 * 512 * loads * warps;
      // Fewer warps with more loads each do a little worse.
      const double reached = std::min(most, static_cast<double>(bytes) / latency);
      entries.push_back(noisy({{"sweep", "in flight"},
                               {"level", "DRAM"},
                               {"loads in flight", loads},
                               {"bytes in flight (B)", bytes}},
                              reached * (loads == 1 ? 1 : 0.9)));
    }
  }
  const Findings findings = concluded(entries);
  const Fact& flight = fact(findings, "dram.bytes_in_flight");
  CHECK(flight.value == 132 * 512 * 32);
  CHECK(flight.interval->low == 132 * 512 * 16);
  CHECK_THAT(flight.method, contains("500 ns"));
}

TEST_CASE("the curve's regimes are drawn on it", "[probes][memory_bandwidth]") {
  std::vector<Entry> entries;
  for (double size = 1 << 20; size < 1.1e9; size *= std::exp2(0.25)) {
    entries.push_back(noisy({{"sweep", "footprint"},
                             {"operation", "load"},
                             {"instruction", "ld.global.cg"},
                             {"width (B)", std::int64_t{16}},
                             {"working set (B)", static_cast<std::int64_t>(size)}},
                            size < 5e7 ? 5.6e12 : 4.6e12));
  }
  const Findings findings = concluded(entries);
  const View& curve = findings.views.front();
  REQUIRE(curve.stretches.size() == 2);
  CHECK_THAT(curve.stretches.front().first_y, WithinRel(5.6e12, 0.01));
  REQUIRE(curve.markers.size() == 1);
  CHECK(curve.markers.front().x > 3.5e7);
  CHECK(curve.markers.front().x < 5e7);
}
