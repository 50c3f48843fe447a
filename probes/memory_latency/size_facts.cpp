#include "probes/memory_latency/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "results/query.h"
#include "results/statistics.h"

namespace fathom::memory_latency {

Curve curve(std::span<const Entry> all, const AxisFilter& filter, RampScale scale) {
  constexpr std::size_t fewest_points = 8;
  Curve result{select(all, filter), {}};
  std::erase_if(result.entries, [](const Entry* entry) { return !entry->metric.value; });
  if (result.entries.size() >= fewest_points)
    result.cut = segment(curve_of(result.entries, working_set), {.scale = scale});
  return result;
}

Fact size_at(const Curve& c, std::optional<std::size_t> index, FactName name, const char* absent) {
  if (!index) return missing_fact(std::move(name), no_change(c, absent));
  const Boundary& boundary = c.cut->boundaries.at(*index);
  Fact fact = named_fact(std::move(name));
  fact.value = boundary.below_x;
  fact.interval = boundary.interval;
  fact.method = fmt::format(
      "largest working set before the chase's latency leaves {}; {} regimes by change-point "
      "segmentation of {} points",
      c.cut->regimes.at(*index).kind == Regime::Kind::plateau ? "its plateau" : "its line",
      c.cut->regimes.size(), c.entries.size());
  if (c.cut->stability) {
    fact.method +=
        fmt::format(", the same in {:.0f} % of the bootstrapped curves", 100 * *c.cut->stability);
  }
  add_evidence(fact, c.entries);
  return fact;
}

std::string no_change(const Curve& c, const char* absent) {
  if (!c.cut) return absent;
  return fmt::format("the latency stays on one plateau up to {:.0f} B, the largest set tried",
                     c.cut->regimes.back().last_x);
}

std::optional<std::size_t> end_of_hits(const Curve& c) {
  constexpr double same_hits = 0.02;
  for (std::size_t i = 0; c.cut && i < c.cut->boundaries.size(); ++i)
    if (c.cut->regimes[i + 1].last_y > c.cut->regimes.front().level * (1 + same_hits)) return i;
  return std::nullopt;
}

namespace {

/// x in what the lines are straight, and the median.
using Places = std::vector<std::pair<double, double>>;

/// Squared error of y = y0 + s1 min(0, u) + s2 max(0, u) with the best y0, s1 and s2, u = x - at;
/// nothing with too few points on a side.
std::optional<double> error_at(const Places& places, double at) {
  constexpr std::size_t fewest = 3;
  struct Side {
    std::size_t points = 0;
    double u = 0, uu = 0, uy = 0;  // sums
    double slope(double y0) const { return (uy - y0 * u) / uu; }
  } sides[2];
  double sum = 0, weight = static_cast<double>(places.size());
  for (const auto& [x, y] : places) {
    Side& side = sides[x > at];
    const double u = x - at;
    ++side.points;
    side.u += u;
    side.uu += u * u;
    side.uy += u * y;
    sum += y;
  }
  for (const Side& side : sides) {
    if (side.points < fewest || !(side.uu > 0)) return std::nullopt;
    weight -= side.u * side.u / side.uu;
    sum -= side.u * side.uy / side.uu;
  }
  if (!(weight > 0)) return std::nullopt;
  const double y0 = sum / weight;
  double error = 0;
  for (const auto& [x, y] : places) {
    const double off = y - y0 - sides[x > at].slope(y0) * (x - at);
    error += off * off;
  }
  return error;
}

/// Where a curve changes its slope near `around`: the x at which two straight lines over
/// RampScale::share that meet there fit the medians of the points best by least squares. Points
/// further away than a factor of 1.3 do not count. Where a change of slope is slight, this is
/// steadier than the boundary between two regimes, which lies between two points. Nothing with
/// fewer than three points to either side.
std::optional<double> hinge(std::span<const CurvePoint> curve, double around) {
  constexpr RampScale scale = RampScale::share;
  constexpr double within = 1.3;
  const double low = ramp_coordinate(scale, around / within);
  const double high = ramp_coordinate(scale, around * within);
  Places places;
  for (const CurvePoint& point : curve) {
    const double x = ramp_coordinate(scale, point.x);
    if (x >= low && x <= high) places.emplace_back(x, median(point.samples));
  }
  // Fine enough that the noise of the points, not the grid, decides.
  constexpr int steps = 400;
  std::optional<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= steps; ++i) {
    const double at = std::lerp(low, high, static_cast<double>(i) / steps);
    const auto error = error_at(places, at);
    if (error && *error < least) {
      least = *error;
      best = from_ramp_coordinate(scale, at);
    }
  }
  return best;
}

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
  const Curve c = curve(entries, {{"sweep", "size"}, {"level", "L2"}}, RampScale::share);
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
