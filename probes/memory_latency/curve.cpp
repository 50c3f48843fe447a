#include "probes/memory_latency/facts.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "results/statistics.h"

namespace fathom::memory_latency {
namespace {

constexpr std::size_t fewest_points = 8;
constexpr double same_hits = 0.02;

void cite(Fact& fact, const Entry& entry) {
  fact.evidence.push_back(entry.name);
  fact.repeats += static_cast<int>(entry.samples.size());
}

}  // namespace

Curve curve(std::span<const Entry> all, const AxisFilter& filter, RampScale scale) {
  Curve result{select(all, filter), {}};
  std::erase_if(result.entries, [](const Entry* entry) { return !entry->metric.value; });
  if (result.entries.size() >= fewest_points)
    result.cut = segment(curve_of(result.entries, working_set), {.scale = scale});
  return result;
}

Points points_by(std::span<const Entry> entries, const AxisFilter& filter, const char* axis) {
  Points result;
  for (const Entry* entry : select(entries, filter)) {
    const AxisValue* value = find_axis(*entry, axis);
    if (entry->metric.value && value != nullptr)
      result.insert({std::get<std::int64_t>(*value), entry});
  }
  return result;
}

void add_evidence(Fact& fact, const Curve& c) {
  for (const Entry* entry : c.entries) cite(fact, *entry);
}

void add_evidence(Fact& fact, const Points& points) {
  for (const auto& [x, entry] : points) cite(fact, *entry);
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
  add_evidence(fact, c);
  return fact;
}

std::string no_change(const Curve& c, const char* absent) {
  if (!c.cut) return absent;
  return fmt::format("the latency stays on one plateau up to {:.0f} B, the largest set tried",
                     c.cut->regimes.back().last_x);
}

std::optional<std::size_t> end_of_hits(const Curve& c) {
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

}  // namespace

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

}  // namespace fathom::memory_latency
