#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "probes/memory_latency/facts.h"
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

std::vector<std::size_t> plateaus(const Curve& c) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; c.cut && i < c.cut->regimes.size(); ++i)
    if (is_plateau(c.cut->regimes[i])) result.push_back(i);
  return result;
}

Fact size_at(const Curve& c, std::size_t regime, Fact fact, const char* absent) {
  if (!c.ends(regime)) return unmeasured(fact, no_change(c, absent));
  fact.value = c.cut->regimes[regime].last_x;
  fact.interval = c.cut->regimes[regime + 1].change;
  fact.method = fmt::format(
      "largest working set before the chase's latency leaves its {}; {} regimes by change-point "
      "segmentation of {} points",
      is_plateau(c.cut->regimes[regime]) ? "plateau" : "line", c.cut->regimes.size(),
      c.entries.size());
  if (c.cut->stability)
    fact.method +=
        fmt::format(", the same in {:.0f} % of the bootstrapped curves", 100 * *c.cut->stability);
  add_evidence(fact, c.entries);
  return fact;
}

std::string no_change(const Curve& c, const char* absent) {
  if (!c.cut) return absent;
  return fmt::format("the latency stays on one plateau up to {:.0f} B, the largest set tried",
                     c.cut->regimes.back().last_x);
}

std::size_t end_of_hits(const Curve& c) {
  constexpr double same_hits = 0.02;
  for (std::size_t i = 0; c.ends(i); ++i)
    if (c.cut->regimes[i + 1].last_y > c.cut->regimes.front().level * (1 + same_hits)) return i;
  return no_end;
}

void widen(Fact& fact, double value) {
  if (!fact.interval) return;
  fact.interval->low = std::min(fact.interval->low, value);
  fact.interval->high = std::max(fact.interval->high, value);
}

namespace {

/// Where a curve changes its slope near `around`: the x at which two straight lines over
/// RampScale::share that meet there fit the medians of the points best by least squares. Where the
/// change is slight, this is steadier than the boundary between two regimes, which lies between two
/// points. Nothing with fewer than three points to either side.
std::optional<double> hinge(std::span<const CurvePoint> curve, double around) {
  constexpr RampScale scale = RampScale::share;
  constexpr double within = 1.3, fewest = 3;
  constexpr int steps = 400;  // so fine that the noise of the points, not the grid, decides
  const double low = ramp_coordinate(scale, around / within);
  const double high = ramp_coordinate(scale, around * within);
  std::vector<std::pair<double, double>> places;  // x in what the lines are straight, the median
  for (const CurvePoint& point : curve)
    if (const double x = ramp_coordinate(scale, point.x); x >= low && x <= high)
      places.emplace_back(x, median(point.samples));
  std::optional<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= steps; ++i) {
    // y = y0 + slope u on each side of u = 0.
    const double at = std::lerp(low, high, static_cast<double>(i) / steps);
    struct {
      double points = 0, u = 0, uu = 0, uy = 0, slope = 0;  // sums, but for the slope
    } sides[2];
    double y0 = 0, weight = static_cast<double>(places.size()), error = 0;
    for (const auto& [x, y] : places) {
      auto& side = sides[x > at];
      ++side.points;
      side.u += x - at;
      side.uu += (x - at) * (x - at);
      side.uy += (x - at) * y;
      y0 += y;
    }
    if (std::min(sides[0].points, sides[1].points) < fewest) continue;
    for (const auto& side : sides) {
      weight -= side.u * side.u / side.uu;
      y0 -= side.u * side.uy / side.uu;
    }
    y0 /= weight;
    for (auto& side : sides) side.slope = (side.uy - y0 * side.u) / side.uu;
    for (const auto& [x, y] : places) error += std::pow(y - y0 - sides[x > at].slope * (x - at), 2);
    if (!(error < least)) continue;  // nor a fit that is no number
    least = error;
    best = from_ramp_coordinate(scale, at);
  }
  return best;
}

/// The size of the L1 beside each carve-out; then what the unified memory keeps from both, over all
/// of them: the same at each if the hardware sets it aside, and none if the edge of the curve is
/// where the arithmetic says.
void add_l1(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const AxisFilter sweep{{"sweep", "size"}, {"level", "L1"}};
  std::set<double> carveouts;
  for (const Entry* entry : select(entries, sweep))
    carveouts.insert(axis_of("carve-out (KiB)")(*entry));
  if (carveouts.empty()) facts.push_back(unmeasured(size_name("l1.size", "L1"), no_curve));
  Fact reserved{"l1.reserved", "L1", "unified memory that is neither L1 nor carve-out", "B",
                Better::lower};
  std::vector<double> kept;
  for (const double carveout : carveouts) {
    AxisFilter where = sweep;
    where.emplace_back("carve-out (KiB)", static_cast<std::int64_t>(carveout));
    const Curve c = curve(entries, where);
    // The smallest carve-out's is what people mean by the size of the L1.
    const std::string id = carveout == *carveouts.begin()
                               ? "l1.size"
                               : fmt::format("l1.size.carveout_{}kib", carveout);
    Fact& size = facts.emplace_back(
        size_at(c, end_of_hits(c),
                size_name(id, fmt::format("L1 beside a carve-out of {} KiB", carveout))));
    const double expected =
        size.value ? extra_of("expected_l1_bytes")(*c.entries.front()) : std::nan("");
    if (std::isnan(expected)) continue;
    size.bound = Bound{expected, "L1 and shared memory of an SM together, less the carve-out"};
    kept.push_back(expected - *size.value);
    reserved.repeats += size.repeats;
    // One of each curve: the others stand with that curve's own fact.
    reserved.evidence.push_back(size.evidence.front());
  }
  if (kept.empty()) {
    reserved.reason = no_curve;
  } else {
    const auto [low, high] = std::ranges::minmax(kept);
    reserved.value = median(kept);
    reserved.interval = median_interval(kept);
    reserved.method = fmt::format(
        "what the carve-out leaves less the size of the L1, median of {} carve-outs ({:.0f} to "
        "{:.0f} KiB)",
        kept.size(), low / 1024, high / 1024);
  }
  facts.push_back(std::move(reserved));
}

/// The L2 ends where misses to DRAM begin to count, the partition that is near to the measuring SM
/// where its lines end: at the first change, if that is not the other already. When the L2 is full,
/// far lines have taken the mean a third of the way from near hits to DRAM (H200).
void add_l2(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const Curve c = curve(entries, {{"sweep", "size"}, {"level", "L2"}}, RampScale::share);
  const Entry* dram = find_measured(entries, at("DRAM", "ld.global.cg"));
  const Fact of_all = size_name("l2.size", "L2");
  const Fact of_part{"l2.partition", "L2", "partition size", "B"};
  const auto neither = [&](const std::string& reason) {
    for (const Fact& name : {of_all, of_part}) facts.push_back(unmeasured(name, reason));
  };
  if (!c.ends(0)) return neither(no_change(c));
  if (dram == nullptr) return neither("the latency of DRAM is not there to tell misses");
  const std::vector<Regime>& regimes = c.cut->regimes;
  const double hit = regimes.front().level, misses = hit + (*dram->metric.value - hit) / 2;
  // The last change before which there were no misses to speak of.
  std::size_t last = no_end;
  for (std::size_t i = 0; c.ends(i); ++i)
    if (regimes[i].last_y < misses) last = i;
  if (last == no_end || regimes.back().last_y < misses)
    return neither("the curve does not go from hits to misses, which take as long as DRAM");
  Fact& size = facts.emplace_back(size_at(c, last, of_all));
  // Misses only add to a slope that is there already, since far lines count before: where the one
  // slope turns into the other says more than the boundary between two points.
  const bool slopes = !is_plateau(regimes[last]) && !is_plateau(regimes[last + 1]);
  const auto turn = slopes ? hinge(curve_of(c.entries, working_set), *size.value) : std::nullopt;
  if (turn) {
    size.value = *turn;
    size.method += "; there, where two lines that meet fit the curve best";
    widen(size, *turn);
  }
  const double expected = extra_of("expected_l2_bytes")(*c.entries.front());
  if (!std::isnan(expected)) size.published = Published{expected, "the driver, for this GPU"};
  facts.push_back(last == 0 ? unmeasured(of_part, "the latency changes nowhere below the L2's size")
                            : size_at(c, 0, of_part));
}

/// Each end of a plateau is a level's reach; the step to the next plateau is what its miss costs.
void add_tlb(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const Curve c = curve(entries, {{"sweep", "pages"}});
  const std::vector<std::size_t> levels = plateaus(c);
  if (levels.empty() || !c.ends(levels[0]))
    facts.push_back(size_at(c, no_end, {"tlb.reach", "TLB", "reach", "B"},
                            "footprints are swept in the default suite only, or failed"));
  for (std::size_t i = 0; i < levels.size() && c.ends(levels[i]); ++i) {
    const std::string number = i == 0 ? "" : fmt::format("_{}", i + 1);
    const std::string subject = fmt::format("TLB level {}", i + 1);
    facts.push_back(size_at(c, levels[i], {"tlb.reach" + number, subject, "reach", "B"}));
    if (i + 1 == levels.size()) continue;
    Fact& cost = facts.emplace_back(
        Fact{"tlb.miss_latency" + number, subject, "miss latency", "cycles", Better::lower});
    cost.value = c.cut->regimes[levels[i + 1]].level - c.cut->regimes[levels[i]].level;
    cost.method = "difference of the plateaus before and after its reach";
    add_evidence(cost, c.entries);
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
  std::vector<Fact> facts;
  for (const auto& [id, subject, level, extra, method] :
       {std::tuple{"registers.size", "registers", "shared", register_bytes,
                   "the driver's number of 4-byte registers of an SM"},
        {"shared.size", "shared memory", "shared", shared_bytes,
         "the driver's most shared memory of an SM, with what it keeps for itself of each block"},
        {"dram.size", "DRAM", "DRAM", memory_bytes,
         "the memory that the driver lets programs have"}}) {
    Fact& fact = facts.emplace_back(size_name(id, subject));
    fact.reason = "the cases that carry what the driver says were left out of this run or failed";
    for (const Entry* entry : select(entries, {{"sweep", "latency"}, {"level", level}})) {
      if (!entry->metric.value || !entry->extras.contains(extra)) continue;
      fact.reason.clear();
      fact.value = entry->extras.at(extra);
      fact.method = fmt::format("not measured: {}", method);
      fact.repeats = 1;
      fact.evidence = {entry->name};
      fact.bound = entry->bound;
      break;
    }
  }
  return facts;
}

}  // namespace fathom::memory_latency
