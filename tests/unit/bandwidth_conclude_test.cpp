// What is concluded of memory and links where recordings do not say it
// (recording_conclude_test.cpp). Of copies: planted_claims_conclude_test.cpp.

#include "probes/claims.h"
#include "probes/links/bounds.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::check_values;
using planted::fact;
using namespace fathom::links;

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

TEST_CASE("no peer access, no NCCL and GPUs in use are reasons of their own", "[probes]") {
  const auto facts_of = [](Axes axes, double gpus, double busy) {
    Entry e = planted::entry("entry", std::move(axes), 20e9);
    e.extras = {
        {"visible_gpus", gpus}, {"busy_gpus", busy}, {"pairs_with_access", 0}, {"nccl_version", 0}};
    return links::conclude(std::vector{e}).facts;
  };
  const auto facts = facts_of({{"link", "peer"},
                               {"engine", "copy engine"},
                               {"direction", "one way"},
                               {"from GPU", std::int64_t{0}},
                               {"to GPU", std::int64_t{1}},
                               {"path", "through the host"}},
                              2, 0);
  CHECK_THAT(fact(facts, "peer.bandwidth").method, contains("through the host"));
  CHECK_THAT(fact(facts, "peer.sm_load_bandwidth").reason, contains("cudaDeviceCanAccessPeer"));
  for (const char* hint : {"libnccl.so.2", "install libnccl2", "FATHOM_NCCL_LIBRARY"})
    CHECK_THAT(fact(facts, "nccl.all_reduce_bus_bandwidth").reason, contains(hint));
  CHECK_THAT(fact(facts_of({{"link", "host"}}, 4, 3), "peer.bandwidth").reason,
             contains("another Fathom"));
}

// nccl-tests, doc/PERFORMANCE.md, for 4 ranks.
TEST_CASE("bus bandwidth follows nccl-tests", "[probes]") {
  using enum Collective;
  for (const auto& [collective, ranks, factor] : {std::tuple{all_reduce, 4, 1.5},
                                                  {all_gather, 4, 0.75},
                                                  {reduce_scatter, 4, 0.75},
                                                  {all_to_all, 4, 0.75},
                                                  {broadcast, 4, 1.0},
                                                  {send_receive, 4, 1.0},  // src/sendrecv.cu
                                                  {all_reduce, 2, 1.0}})
    CHECK(bus_factor(collective, ranks) == Approx(factor));
}

namespace {

constexpr const char* h200 = "NVIDIA H200";
const Bound pcie_5{63e9, "PCIe generation 5"}, pcie_4{31.5e9, "PCIe generation 4"};

/// As many GPUs of one name, each joined to each other one.
Topology alike(const char* name, int gpus, bool by_nvlink) {
  Topology t;
  for (int from = 0; from < gpus; ++from) {
    t.gpus[from] = {name, {}, pcie_5};
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      t.access.insert({from, to});
      if (by_nvlink) t.native_atomics.insert({from, to});
    }
  }
  return t;
}

constexpr std::array both{0, 1};

}  // namespace

TEST_CASE("Links that NVML names are the bound, the narrower end's", "[probes]") {
  Topology t = alike(h200, 2, true);
  t.gpus[0].named = Bound{18 * 26.5625e9, "18 NVLinks"};
  t.gpus[1].named = Bound{17 * 26.5625e9, "17 NVLinks"};
  for (const auto& bound : {peer_bound(t, 0, 1), peer_bound(t, 1, 0), bus_bound(t, both)})
    CHECK(bound->source == "17 NVLinks");
}

TEST_CASE("Where NVML is silent the data sheet's NVLink total is the bound, and says so",
          "[probes]") {
  const Topology t = alike(h200, 4, true);
  const auto bound = peer_bound(t, 3, 1);
  REQUIRE(bound);
  CHECK(bound->value == 450e9);
  CHECK_THAT(bound->source, contains("data sheet") && contains("NVML names no links"));
  CHECK(bus_bound(t, std::array{0, 1, 2, 3}) == bound);
  // One of them is named: its rate against the other's data sheet.
  Topology half = t;
  half.gpus[1].named = Bound{17 * 25e9, "17 NVLinks"};
  CHECK(peer_bound(half, 3, 1)->source == "17 NVLinks");
  half.gpus[1].named = Bound{18 * 26.5625e9, "18 NVLinks"};
  CHECK(peer_bound(half, 3, 1) == bound);
}

TEST_CASE("Nothing is said of a pair whose link nobody tells", "[probes]") {
  // NVLink, or PCIe? Without native atomics both ways it is not known. Nor of a model that the
  // table lacks.
  Topology one_way = alike(h200, 2, true), mixed = one_way;
  one_way.native_atomics.erase({1, 0});
  mixed.gpus[1].name = "NVIDIA X1";
  for (const Topology& t : {alike(h200, 2, false), one_way, alike("NVIDIA X1", 2, true), mixed}) {
    CHECK_FALSE(peer_bound(t, 0, 1));
    CHECK_FALSE(bus_bound(t, both));
  }
}

TEST_CASE("GPUs without NVLink, and copies through the host, have PCIe's bound", "[probes]") {
  Topology t = alike("NVIDIA L40S", 2, false);
  for (const std::optional<Bound>& narrower : {std::optional(pcie_4), {}}) {
    t.gpus[1].pcie = narrower;
    CHECK(peer_bound(t, 0, 1) == narrower);
    CHECK(bus_bound(t, both) == narrower);
  }
  Topology staged = alike(h200, 2, false);
  staged.access.clear();
  CHECK(peer_bound(staged, 0, 1) == pcie_5);
}

// As in a DGX-1: rings go over the NVLinks, whatever a pair without any would have to take.
TEST_CASE("A collective is not held to the pairs that have no link of their own", "[probes]") {
  Topology t = alike("NVIDIA X1", 3, true);
  for (auto& [ordinal, gpu] : t.gpus) gpu.named = Bound{150e9, "6 NVLinks"};
  t.access.erase({0, 2});
  t.native_atomics.erase({0, 2});
  CHECK(peer_bound(t, 0, 2) == pcie_5);
  CHECK(bus_bound(t, std::array{0, 1, 2})->value == 150e9);
}
