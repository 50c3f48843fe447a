#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "probes/memory_latency/facts.h"
#include "results/text.h"

namespace fathom::memory_latency {

Curve curve(std::span<const Entry> all, const AxisFilter& filter, RampScale scale) {
  constexpr std::size_t fewest_points = 8;
  Curve result{select(all, filter), {}};
  std::erase_if(result.entries, [](const Entry* entry) { return !entry->metric.value; });
  if (result.entries.size() >= fewest_points)
    result.cut = segment(curve_of(result.entries, working_set), {.scale = scale});
  return result;
}

namespace {

constexpr const char* no_curve = "its curve was left out of this run, or too much of it failed";
constexpr const char* swept_by_default =
    "code is swept in the default suite only, or its cases failed";

bool is_plateau(const Regime& regime) { return regime.kind == Regime::Kind::plateau; }

/// Which regimes are plateaus: levels, but for the ramps between them.
std::vector<std::size_t> plateaus(const Curve& c) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; c.cut && i < c.cut->regimes.size(); ++i)
    if (is_plateau(c.cut->regimes[i])) result.push_back(i);
  return result;
}

/// Why a curve has only one regime; `absent`: why there may be no curve.
std::string no_change(const Curve& c, const char* absent = no_curve) {
  if (!c.cut) return absent;
  return fmt::format("the latency stays on one plateau up to {:.0f} B, the largest set tried",
                     c.cut->regimes.back().last_x);
}

Fact size_name(std::string id, std::string subject) {
  return {std::move(id), std::move(subject), "size", "B"};
}

/// The end of a regime as a size; where there is none, why not.
Fact size_at(const Curve& c, std::size_t regime, Fact fact, const char* absent = no_curve) {
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

constexpr std::size_t no_end = -1;

/// The last regime before there are misses, or `no_end`. One whose latency is within two percent of
/// the first one's is still hits, however surely the two are told apart.
std::size_t end_of_hits(const Curve& c) {
  constexpr double same_hits = 0.02;
  for (std::size_t i = 0; c.ends(i); ++i)
    if (c.cut->regimes[i + 1].last_y > c.cut->regimes.front().level * (1 + same_hits)) return i;
  return no_end;
}

/// Stretches a fact's interval to hold the value too.
void widen(Fact& fact, double value) {
  if (!fact.interval) return;
  fact.interval->low = std::min(fact.interval->low, value);
  fact.interval->high = std::max(fact.interval->high, value);
}

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

// Constant and instruction caches.

constexpr std::int64_t all_constants = 64 * 1024;

Curve beside_code(std::span<const Entry> entries, std::int64_t constants) {
  return curve(entries, {{"sweep", "beside code"}, {"constants (B)", constants}});
}

/// The cache that constants share with code, by all the constants there are and by few of them.
Fact size_with_code(std::span<const Entry> entries, const Fact& name) {
  constexpr std::int64_t few_constants = 16 * 1024;
  constexpr double same_size = 1.25;  // at most between two curves of one cache
  const std::string all = format_bytes(all_constants), few = format_bytes(few_constants);
  const Curve with_all = beside_code(entries, all_constants);
  const Curve with_few = beside_code(entries, few_constants);
  const std::size_t edge = end_of_hits(with_all), second = end_of_hits(with_few);
  if (!with_all.cut)
    return unmeasured(
        name, std::string("constant memory ends before it; beside code, ") + swept_by_default);
  if (edge == no_end)
    return unmeasured(
        name, fmt::format("constant memory, all {}, stays in it beside {} of code", all,
                          format_bytes(with_all.cut->regimes.back().last_x - all_constants)));
  Fact fact = size_at(with_all, edge, name);
  if (second == no_end) {
    fact.method += fmt::format("; of {} of constants and of code together", all);
    return fact;
  }
  const double other = with_few.cut->regimes[second].last_x;
  const std::string sizes = fmt::format("{} with {} of constants, {} with {}",
                                        format_bytes(*fact.value), all, format_bytes(other), few);
  if (std::max(other, *fact.value) > same_size * std::min(other, *fact.value))
    return unmeasured(name, "what stays of both is not one cache that both fill: " + sizes);
  fact.method += "; of constants and of code together, which share it: " + sizes;
  widen(fact, other);
  add_evidence(fact, with_few.entries);
  return fact;
}

std::string latency_behind(std::span<const Entry> entries, Fact& fact) {
  const Curve c = beside_code(entries, all_constants);
  if (!c.cut) return swept_by_default;
  const Regime& last = c.cut->regimes.back();
  if (end_of_hits(c) == no_end || !is_plateau(last))
    return fmt::format("up to {} of constants and code not all of the constants miss",
                       format_bytes(last.last_x));
  fact.value = last.level;
  fact.interval = last.interval;
  fact.method = fmt::format(
      "{} of constants beside more code than leaves room for them; the same from {} to {} of both, "
      "the most tried",
      format_bytes(all_constants), format_bytes(last.first_x), format_bytes(last.last_x));
  add_evidence(fact, c.entries);
  return "";
}

void add_constants(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const Curve c = curve(entries, {{"sweep", "size"}, {"level", "constant"}});
  std::vector<std::size_t> levels = plateaus(c);
  levels.resize(std::max<std::size_t>(levels.size(), 2), no_end);
  const Fact second = size_name("const.l1_5.size", "constant L1.5");
  facts.push_back(size_at(c, levels[0], size_name("const.l1.size", "constant L1")));
  facts.push_back(c.ends(levels[1]) ? size_at(c, levels[1], second)
                                    : size_with_code(entries, second));
  Fact& behind = facts.emplace_back(Fact{"const.behind_l1_5.latency", "constants behind the L1.5",
                                         "latency", "cycles", Better::lower});
  behind.reason = latency_behind(entries, behind);
}

/// Levels of the code's pace: first and last regime of each.
std::vector<std::pair<std::size_t, std::size_t>> code_levels(const Curve& c) {
  /// Plateaus closer than this are one level: the code's own pace is no more even.
  constexpr double next_level = 1.1;
  /// Some misses come before a cache is full, and their pace is a plateau of its own: levels closer
  /// in size than this are one, which ends where the first of them does.
  constexpr double next_size = 1.25;
  std::vector<std::pair<std::size_t, std::size_t>> levels;
  for (const std::size_t i : plateaus(c)) {
    const std::vector<Regime>& regimes = c.cut->regimes;
    if (!levels.empty() && regimes[i].level < next_level * regimes[levels.back().first].level)
      levels.back().second = i;
    else
      levels.emplace_back(i, i);
  }
  for (std::size_t i = 1; i + 1 < levels.size();) {
    const auto end_of = [&](std::size_t k) { return c.cut->regimes[levels[k].second].last_x; };
    if (end_of(i) < next_size * end_of(i - 1))
      levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  return levels;
}

/// A level's end is the size of the cache that it comes from; what comes from behind the last one
/// has a pace, and no size.
void add_instruction_caches(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const Curve c = curve(entries, {{"sweep", "code"}});
  auto levels = code_levels(c);
  if (levels.size() < 2) levels.assign(1, {no_end, no_end});
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto [first, last] = levels[i];
    const bool has_end = i == 0 || i + 1 < levels.size();
    const std::string number = i == 0 ? "" : fmt::format("_{}", i + 1);
    const std::string subject = has_end ? fmt::format("instruction cache level {}", i + 1)
                                        : fmt::format("behind instruction cache level {}", i);
    if (has_end) {
      Fact& size = facts.emplace_back(size_at(
          c, last, size_name("instruction_cache.size" + number, subject), swept_by_default));
      if (size.value)
        size.method = fmt::format(
            "longest straight-line code, run over and over, before its instructions leave a "
            "plateau of their pace; {} regimes by change-point segmentation of {} points",
            c.cut->regimes.size(), c.entries.size());
    }
    Fact& pace = facts.emplace_back(Fact{"instruction_cache.issue_interval" + number, subject,
                                         "issue interval", "cycles", Better::lower});
    if (first == no_end) {
      pace.reason = no_change(c, swept_by_default);
      continue;
    }
    const Regime& regime = c.cut->regimes[first];
    pace.value = regime.level;
    pace.interval = regime.interval;
    pace.bound = Bound{1, "a warp issues one instruction a clock at most"};
    pace.method = fmt::format(
        "cycles from one instruction of straight-line code to the next, one warp, code of {} to {}",
        format_bytes(regime.first_x), format_bytes(c.cut->regimes[last].last_x));
    add_evidence(pace, c.entries);
  }
}

}  // namespace

std::vector<Fact> size_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const auto add : {add_l1, add_l2, add_tlb, add_constants, add_instruction_caches})
    add(facts, entries);
  return facts;
}

}  // namespace fathom::memory_latency
