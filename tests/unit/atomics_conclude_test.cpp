#include "probes/atomics/patterns.h"
#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::check_values;
using planted::fact;
using namespace fathom::atomics;

namespace {

Entry planted_entry(const char* sweep, const char* pattern, const std::string& ptx, double value,
                    Axes more = {}) {
  const auto i =
      std::ranges::find_if(all_instructions, [&](const Instruction& c) { return c.ptx() == ptx; });
  if (i == all_instructions.end()) throw std::out_of_range(ptx);
  Axes axes{{"sweep", sweep},
            {"level", name_of(i->level)},
            {"instruction", ptx},
            {"operation", name_of(i->operation)},
            {"type", name_of(i->type)},
            {"form", i->form()},
            {"scope", name_of(i->scope)},
            {"pattern", pattern}};
  axes.insert(axes.end(), more.begin(), more.end());
  Entry e = planted::entry(std::string(sweep) + "/" + pattern + "/" + ptx, std::move(axes), value);
  e.metric.unit = i->level == Level::l2 ? "ops/clk" : "ops/clk/SM";
  e.interval = Interval{0.98 * value, 1.02 * value, 0.95, "planted"};
  e.extras["ns_per_operation"] = 1 / (1.5 * value);
  e.bound = Bound{10 * value, "planted"};
  return e;
}

Findings concluded(const std::vector<Entry>& entries) {
  return planted::checked(conclude(entries));
}

}  // namespace

TEST_CASE("each sweep of atomics becomes its own facts", "[probes]") {
  const char* add = "atom.gpu.global.add.u32";
  const Findings findings =
      concluded({planted_entry("operations", own_words, add, 2000),
                 planted_entry("operations", own_words, "atom.sys.global.add.u32", 1900),
                 planted_entry("operations", own_words, "red.gpu.global.add.f32", 2100),
                 planted_entry("operations", own_words, "atom.cta.shared.add.u32", 30),
                 planted_entry("same address", one_address, add, 1.5),
                 planted_entry("same address", one_address, "atom.cta.shared.add.u32", 2.5),
                 planted_entry("same address", one_address, "red.gpu.global.add.f64", 0.5),
                 planted_entry("same address", one_address, "atom.gpu.global.cas.b32", 0.7),
                 planted_entry("spread", line_a_lane, add, 150),
                 planted_entry("working set", sector_a_lane, add, 40,
                               {{"working set (B)", std::int64_t{480} << 20}}),
                 planted_entry("working set", sector_a_lane, add, 200,
                               {{"working set (B)", std::int64_t{1} << 20}})});
  CHECK(fact(findings, "l2.atomic_add_throughput").value == 2000);
  CHECK(fact(findings, "l2.atomic_add_throughput").unit == "ops/clk");
  CHECK(fact(findings, "l2.atomic_add_throughput").bound->value == 20'000);
  check_values(findings, {{"l2.atomic_add_sys_throughput", 1900},
                          {"l2.reduction_add_f32_throughput", 2100},
                          {"shared.atomic_add_throughput", 30}});
  CHECK(fact(findings, "shared.atomic_add_throughput").unit == "ops/clk/SM");
  check_values(findings, {{"l2.atomic_same_address_throughput", 1.5},
                          {"shared.atomic_same_address_throughput", 2.5},
                          {"l2.reduction_f64_same_address_throughput", 0.5},
                          {"l2.atomic_cas_same_address_throughput", 0.7},
                          {"l2.atomic_line_a_lane_throughput", 150}});
  // The largest set, wherever it stands.
  CHECK(fact(findings, "dram.atomic_sector_a_lane_throughput").value == 40);
  CHECK_THAT(findings.answer, contains("2000 atomic additions") && contains("1.5 on one address"));
  CHECK(findings.views.size() == 5);
}

TEST_CASE("an atomic's cost is stated by who contends", "[probes]") {
  const char* add = "atom.gpu.global.add.u32";
  const auto contenders = [&](const char* kind, std::int64_t count, double value) {
    return planted_entry("contenders", one_address, add, value,
                         {{"contender", kind}, {"contenders", count}});
  };
  const Findings findings =
      concluded({contenders("lanes of a warp", 1, 0.01), contenders("lanes of a warp", 32, 0.3),
                 contenders("SMs", 2, 1.1), contenders("SMs", 132, 1.2)});
  const Fact& lane = fact(findings, "l2.atomic_same_address_time_one_lane");
  CHECK_THAT(lane.value.value(), WithinRel(1e-9 / 0.015, 1e-9));
  CHECK(lane.unit == "s");
  CHECK(lane.better == Better::lower);
  CHECK(lane.interval->low < *lane.value);
  CHECK(lane.interval->high > *lane.value);
  CHECK_FALSE(lane.bound.has_value());
  // The largest of several counts of SMs.
  CHECK_THAT(fact(findings, "l2.atomic_same_address_time_all_sms").value.value(),
             WithinRel(1e-9 / 1.8, 1e-9));
  CHECK_FALSE(fact(findings, "l2.atomic_same_address_time_one_sm").value.has_value());
}

TEST_CASE("a fact about atomics without a value says why", "[probes]") {
  std::vector<Entry> entries{
      planted_entry("operations", own_words, "atom.gpu.global.add.u32", 2000)};
  entries[0].metric.value.reset();
  entries[0].verdict.reasons = {"3 of 64 words hold another result"};
  const Findings findings = concluded(entries);
  CHECK(fact(findings, "l2.atomic_add_throughput").reason == "3 of 64 words hold another result");
  CHECK_THAT(fact(findings, "l2.atomic_exch_b128_throughput").reason, contains("9.0"));
  CHECK_THAT(fact(findings, "dsmem.atomic_add_throughput").reason, contains("9.0"));
  CHECK_THAT(fact(findings, "l2.atomic_add_u64_throughput").reason, contains("left out"));
  CHECK(findings.answer.empty());
}
