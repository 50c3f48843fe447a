#include "probes/memory_latency/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "results/query.h"
#include "results/statistics.h"

namespace fathom::memory_latency {
namespace {

const AxisFilter l2_curve{{"sweep", "size"}, {"level", "L2"}};

/// What the unified memory keeps from both, over all carve-outs whose L1 was sized: the same at
/// each if the hardware sets it aside, and none if the edge of the curve is where the arithmetic
/// says.
std::string reserved(const std::vector<Fact>& sizes, Fact& fact) {
  std::vector<double> kept;
  for (const Fact& size : sizes) {
    if (!size.value || !size.bound) continue;
    kept.push_back(size.bound->value - *size.value);
    fact.repeats += size.repeats;
    // One of each curve: the others stand with that curve's own fact.
    fact.evidence.push_back(size.evidence.front());
  }
  if (kept.empty()) return no_curve;
  const auto [low, high] = std::ranges::minmax(kept);
  fact.value = median(kept);
  fact.interval = median_interval(kept);
  fact.method = fmt::format(
      "what the carve-out leaves less the size of the L1, median of {} carve-outs ({:.0f} to "
      "{:.0f} KiB)",
      kept.size(), low / 1024, high / 1024);
  return "";
}

void add_l1(std::vector<Fact>& facts, std::span<const Entry> entries) {
  std::set<std::int64_t> carveouts;
  for (const Entry* entry : select(entries, {{"sweep", "size"}, {"level", "L1"}})) {
    const AxisValue* carveout = find_axis(*entry, "carve-out (KiB)");
    if (carveout != nullptr) carveouts.insert(std::get<std::int64_t>(*carveout));
  }
  if (carveouts.empty()) facts.push_back(missing_fact(size_name("l1.size", "L1"), no_curve));
  std::vector<Fact> sizes;
  for (const std::int64_t carveout : carveouts) {
    // The smallest carve-out's is what people mean by the size of the L1.
    const bool first = carveout == *carveouts.begin();
    const std::string id = first ? "l1.size" : fmt::format("l1.size.carveout_{}kib", carveout);
    const std::string subject = fmt::format("L1 beside a carve-out of {} KiB", carveout);
    const Curve c =
        curve(entries, {{"sweep", "size"}, {"level", "L1"}, {"carve-out (KiB)", carveout}});
    Fact fact = size_at(c, end_of_hits(c), size_name(id, subject));
    if (fact.value) {
      const double expected = extra_of("expected_l1_bytes")(*c.entries.front());
      if (!std::isnan(expected))
        fact.bound = Bound{expected, "L1 and shared memory of an SM together, less the carve-out"};
    }
    sizes.push_back(std::move(fact));
  }
  facts.insert(facts.end(), sizes.begin(), sizes.end());
  facts.push_back(decided(
      {"l1.reserved", "L1", "unified memory that is neither L1 nor carve-out", "B", Better::lower},
      [&](Fact& fact) { return reserved(sizes, fact); }));
}

/// The L2 ends where misses to DRAM begin to count, the partition that is near to the measuring SM
/// where its lines end: at the first change, if that is not the other already. When the L2 is full,
/// far lines have taken the mean a third of the way from near hits to DRAM (H200).
void add_l2(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const Curve c = curve(entries, l2_curve, RampScale::share);
  const Entry* dram = find_measured(
      entries, {{"sweep", "latency"}, {"level", "DRAM"}, {"method", "unrolled chase"}});
  const FactName of_all = size_name("l2.size", "L2");
  const FactName of_part{"l2.partition", "L2", "partition size", "B"};
  const auto neither = [&](const std::string& reason) {
    facts.push_back(missing_fact(of_all, reason));
    facts.push_back(missing_fact(of_part, reason));
  };
  if (c.cut && c.cut->boundaries.empty()) return neither(no_change(c));
  if (dram == nullptr) return neither("the latency of DRAM is not there to tell misses");
  if (!c.cut) return neither(no_curve);
  const double hit = c.cut->regimes.front().level;
  const double misses = hit + (*dram->metric.value - hit) / 2;
  // The last change before which there were no misses to speak of.
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < c.cut->boundaries.size(); ++i)
    if (c.cut->regimes[i].last_y < misses) last = i;
  if (c.cut->regimes.back().last_y < misses)
    return neither("the latency never comes near that of DRAM");
  if (!last) return neither("the curve begins among misses");
  Fact size = size_at(c, last, of_all);
  // Misses only add to a slope that is there already, since far lines count before: where the one
  // slope turns into the other says more than the boundary between two points.
  const bool slopes = c.cut->regimes[*last].kind == Regime::Kind::ramp &&
                      c.cut->regimes[*last + 1].kind == Regime::Kind::ramp;
  const auto turn = slopes ? hinge(curve_of(c.entries, working_set), *size.value) : std::nullopt;
  if (turn) {
    size.value = *turn;
    size.method += "; there, where two lines that meet fit the curve best";
    if (size.interval) {
      size.interval->low = std::min(size.interval->low, *turn);
      size.interval->high = std::max(size.interval->high, *turn);
    }
  }
  const double expected = extra_of("expected_l2_bytes")(*c.entries.front());
  if (!std::isnan(expected)) size.published = Published{expected, "the driver, for this GPU"};
  facts.push_back(std::move(size));
  facts.push_back(*last == 0
                      ? missing_fact(of_part, "the latency changes nowhere below the L2's size")
                      : size_at(c, 0, of_part));
}

/// Each end of a plateau is a level's reach; the step to the next plateau is what its miss costs.
void add_tlb(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const Curve c = curve(entries, {{"sweep", "pages"}});
  const auto name = [](const char* what, int level) {
    return level == 1 ? fmt::format("tlb.{}", what) : fmt::format("tlb.{}_{}", what, level);
  };
  int level = 0;
  for (std::size_t i = 0; c.cut && i < c.cut->boundaries.size(); ++i) {
    if (c.cut->regimes[i].kind != Regime::Kind::plateau) continue;
    const std::string subject = fmt::format("TLB level {}", ++level);
    facts.push_back(size_at(c, i, {name("reach", level), subject, "reach", "B"}));
    const auto next = std::find_if(
        c.cut->regimes.begin() + static_cast<std::ptrdiff_t>(i) + 1, c.cut->regimes.end(),
        [](const Regime& regime) { return regime.kind == Regime::Kind::plateau; });
    if (next == c.cut->regimes.end()) continue;
    Fact cost = facts.back();
    cost.id = name("miss_latency", level);
    cost.quantity = "miss latency";
    cost.unit = "cycles";
    cost.better = Better::lower;
    cost.value = next->level - c.cut->regimes[i].level;
    cost.interval.reset();
    cost.method = "difference of the plateaus before and after its reach";
    facts.push_back(std::move(cost));
  }
  if (level == 0) {
    facts.push_back(size_at(c, std::nullopt, {"tlb.reach", "TLB", "reach", "B"},
                            "footprints are swept in the default suite only, or failed"));
  }
}

}  // namespace

std::optional<Segmentation> regimes_of(std::span<const Entry> entries, const AxisFilter& filter) {
  return curve(entries, filter, filter == l2_curve ? RampScale::share : RampScale::log2).cut;
}

std::vector<Fact> size_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  add_l1(facts, entries);
  add_l2(facts, entries);
  add_tlb(facts, entries);
  return facts;
}

std::vector<Fact> driver_size_facts(std::span<const Entry> entries) {
  const auto size = [&](const char* id, const char* subject, const char* level, const char* extra,
                        const char* method) {
    FactRow row{size_name(id, subject), {{"sweep", "latency"}, {"level", level}}, method,
                "the cases that carry what the driver says were left out of this run"};
    row.only = [=](const Entry& entry) { return entry.extras.contains(extra); };
    row.change = [=](Fact& fact, const Entry& entry) {
      fact.value = entry.extras.at(extra);
      fact.interval.reset();
      fact.counters.clear();
      fact.repeats = 1;
    };
    return evaluate(row, entries);
  };
  return {size("registers.size", "registers", "shared", register_bytes,
               "not measured: the driver's number of 4-byte registers of an SM"),
          size("shared.size", "shared memory", "shared", shared_bytes,
               "not measured: the driver's most shared memory of an SM, with what it keeps for "
               "itself of each block"),
          size("dram.size", "DRAM", "DRAM", memory_bytes,
               "not measured: the memory that the driver lets programs have")};
}

}  // namespace fathom::memory_latency
