#include "results/statistics.h"

#include "results/findings.h"
#include "sample_document.h"
#include "tests/testing.h"

using namespace fathom;

namespace {

constexpr auto plateau = Regime::Kind::plateau;
constexpr auto ramp = Regime::Kind::ramp;
using Kinds = std::vector<Regime::Kind>;
using Curve = std::vector<CurvePoint>;

/// The truth of a curve: y of the place of a point among the points, 0 to 1.
struct Planted {
  std::string name;
  Kinds kinds;
  std::function<double(double)> y;
};

double between(double t, double from, double to, double low, double high) {
  return low + (high - low) * (t - from) / (to - from);
}

const Planted one{"none", {plateau}, [](double) { return 100.0; }};
const Planted two{"two", {plateau, plateau}, [](double t) { return t < 0.4 ? 33.0 : 210.0; }};
const Planted three{"three", {plateau, plateau, plateau}, [](double t) {
                      return t < 0.3 ? 33.0 : t < 0.7 ? 210.0 : 600.0;
                    }};
const Planted ramped{"plateau, ramp, plateau", {plateau, ramp, plateau}, [](double t) {
                       return t < 0.3 ? 33.0 : t < 0.6 ? between(t, 0.3, 0.6, 33, 210) : 210.0;
                     }};
const Planted hierarchy{"three with ramps", {plateau, ramp, plateau, ramp, plateau}, [](double t) {
                          if (t < 0.2) return 33.0;
                          if (t < 0.35) return between(t, 0.2, 0.35, 33, 210);
                          if (t < 0.6) return 210.0;
                          return t < 0.8 ? between(t, 0.6, 0.8, 210, 600) : 600.0;
                        }};
const Planted rising{"a ramp only", {ramp}, [](double t) { return 100 + 300 * t; }};

/// How a curve is sampled: the noise of a sample is `within`, that of a whole point `across`, both
/// relative.
struct Noise {
  int samples = 1;
  double within = 0, across = 0;
};

Curve draw(const std::vector<double>& xs, const std::function<double(double x)>& y, Noise noise,
           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Curve curve;
  for (const double x : xs) {
    const double at = y(x) * (1 + noise.across * normal(random));
    curve.push_back({x, {}});
    for (int s = 0; s < noise.samples; ++s)
      curve.back().samples.push_back(at * (1 + noise.within * normal(random)));
  }
  return curve;
}

/// `points` places, doubling every four.
Curve draw(const Planted& planted, int points, Noise noise, std::uint64_t seed) {
  std::vector<double> xs;
  for (int i = 0; i < points; ++i) xs.push_back(1024 * std::exp2(i / 4.0));
  // A little more, so that no place rounds down.
  const auto y = [&](double x) { return planted.y((4 * std::log2(x / 1024) + 1e-9) / points); };
  return draw(xs, y, noise, seed);
}

/// Without stability and intervals.
Segmentation cut(const Curve& curve, RampScale scale = RampScale::log2) {
  SegmentationOptions options;
  options.bootstraps = 0;
  options.scale = scale;
  return segment(curve, options);
}

Kinds kinds_of(const Segmentation& segmentation) {
  Kinds kinds;
  for (const Regime& regime : segmentation.regimes) kinds.push_back(regime.kind);
  return kinds;
}

/// For how many of 100 seeds times `hundreds` it is so, in percent.
double rate(const std::function<bool(std::uint64_t seed)>& right, int hundreds = 1) {
  int count = 0;
  for (int seed = 0; seed < 100 * hundreds; ++seed)
    count += right(static_cast<std::uint64_t>(1000 + seed));
  return static_cast<double>(count) / hundreds;
}

/// Adds `factor` times its value to one point.
void disturb(Curve& curve, std::size_t index, double factor) {
  for (double& sample : curve[index].samples) sample *= factor;
}

}  // namespace

// The rates that were measured over 400 seeds are beside each; what is asserted leaves room.
TEST_CASE("Planted regimes are found", "[segmentation]") {
  const auto found = [](const Planted& planted, int points, Noise noise) {
    return rate(
        [&](std::uint64_t seed) {
          return kinds_of(cut(draw(planted, points, noise, seed))) == planted.kinds;
        },
        4);
  };
  for (const Planted* planted : {&one, &two, &three, &ramped, &hierarchy, &rising}) {
    for (const int points : {20, 40, 80}) {
      INFO(planted->name << ", " << points << " points");
      CHECK(kinds_of(cut(draw(*planted, points, {}, 1))) == planted->kinds);
      CHECK(found(*planted, points, {1, 0, 0.005}) >= 97);  // 99.5 to 100
      CHECK(found(*planted, points, {1, 0, 0.02}) >= 96);   // 98.2 to 100
      CHECK(found(*planted, points, {24, 0.05, 0}) >= 98);  // 99.8 to 100
      CHECK(found(*planted, points, {24, 0.02, 0.02}) >= 96);
      // With 20 points and 5 %, 46 of the curves with five regimes are right, else 98.2.
      if (points > 20) CHECK(found(*planted, points, {1, 0, 0.05}) >= 95);  // 98.2 to 100
    }
  }
  // Noise alone is one regime, be it of few points or of many.
  for (const int points : {10, 200}) CHECK(found(one, points, {1, 0, 0.1}) >= 95);
  // So many that not every place is tried at first.
  for (const Planted* planted : {&one, &rising})
    for (const std::uint64_t seed : {1, 2, 3})
      CHECK(kinds_of(cut(draw(*planted, 3501, {1, 0, 0.02}, seed))) == planted->kinds);
}

TEST_CASE("Outliers are left out", "[segmentation]") {
  CHECK(rate([](std::uint64_t seed) {
          Curve curve = draw(three, 40, {24, 0.02, 0.01}, seed);
          for (const auto& [point, factor] : {std::pair(5u, 3.0), {21u, 0.3}, {39u, 1.5}})
            disturb(curve, point, factor);
          return kinds_of(cut(curve)) == three.kinds;
        }) >= 95);
  // Wild samples within a point are the median's business.
  Curve curve = draw(three, 40, {24, 0.02, 0}, 7);
  for (CurvePoint& point : curve) point.samples[3] *= 100;
  CHECK(kinds_of(cut(curve)) == three.kinds);
}

TEST_CASE("Boundaries and levels are where they were planted", "[segmentation]") {
  constexpr int seeds = 60;
  int covered = 0, exact = 0, levels = 0;
  double stability = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const Curve curve = draw(three, 40, {24, 0.05, 0.01}, seed);
    const Segmentation found = segment(curve);
    if (kinds_of(found) != three.kinds) continue;
    stability += *found.stability / seeds;
    // The changes lie after the points 11 and 27.
    const Regime &l1 = found.regimes[0], &l2 = found.regimes[1], &dram = found.regimes[2];
    exact += l1.last_x == curve[11].x && l2.first_x == curve[12].x && l2.last_x == curve[27].x;
    covered += l2.change->low <= curve[11].x && l2.change->high >= curve[12].x &&
               dram.change->low <= curve[27].x && dram.change->high >= curve[28].x;
    levels += found.regimes[1].interval->low <= 210 && found.regimes[1].interval->high >= 210;
    CHECK_THAT(found.regimes[1].level, WithinRel(210, 0.02));
  }
  CHECK(exact >= 57);
  CHECK(covered >= 57);
  CHECK(levels >= 50);
  CHECK(stability > 0.9);
}

TEST_CASE("A gap between plateaus is a ramp, however short, of the planted slope",
          "[segmentation]") {
  Curve curve = draw(two, 30, {24, 0.005, 0}, 1);
  disturb(curve, 12, 0.5);  // 105, between 33 and 210
  const Segmentation found = segment(curve);
  REQUIRE(kinds_of(found) == Kinds{plateau, ramp, plateau});
  CHECK(found.regimes[1].first == 12);
  CHECK(found.regimes[1].last == 12);
  CHECK(found.regimes[2].level > 200);
  const Segmentation rise = segment(draw(rising, 40, {24, 0.01, 0}, 3));
  REQUIRE(kinds_of(rise) == Kinds{ramp});
  CHECK_THAT(rise.regimes[0].first_y, WithinRel(100, 0.02));
  CHECK_THAT(rise.regimes[0].last_y, WithinRel(392.5, 0.02));
}

TEST_CASE("A cache's capacity is where its plateau ends", "[segmentation]") {
  // Random replacement: beyond the capacity C, a share of 1 - C/x misses.
  constexpr double capacity = 200 * 1024;
  const auto cache = [](double x) { return 33 + 177 * std::max(0.0, 1 - capacity / x); };
  for (const double noise : {0.0, 0.002, 0.01, 0.03}) {
    for (const int per_octave : {4, 8}) {
      INFO(noise << ", " << per_octave << " points per octave");
      std::vector<double> xs;
      for (int i = 0; i <= 8 * per_octave; ++i)
        xs.push_back(std::exp2(14 + static_cast<double>(i) / per_octave));
      const double last = *std::prev(std::ranges::upper_bound(xs, capacity));
      CHECK(rate([&](std::uint64_t seed) {
              const Regime first = cut(draw(xs, cache, {24, 0.01, noise}, seed)).regimes[0];
              return first.kind == plateau && first.last_x == last;
            }) >= 97);  // 99 to 100
    }
  }
}

TEST_CASE("Shares that a cache keeps are lines in the scale of shares", "[segmentation]") {
  // Near hits up to 30, far hits up to 58, misses behind: the L2 of a GPU with two partitions.
  const auto cache = [](double x) {
    return 280 + 250 * std::max(0.0, 1 - 30 / x) + 150 * std::max(0.0, 1 - 58 / x);
  };
  std::vector<double> xs;
  for (double x = 4; x < 16; x *= 1.3) xs.push_back(x);
  for (double x = 16; x < 80; x += 0.75) xs.push_back(x);
  for (double x = 96; x < 200; x *= 1.4) xs.push_back(x);
  const auto right = [&](double noise, RampScale scale) {
    return rate([&](std::uint64_t seed) {
      const Segmentation found = cut(draw(xs, cache, {1, 0, noise}, seed), scale);
      return kinds_of(found) == Kinds{plateau, ramp, ramp} &&
             std::abs(found.regimes[0].last_x - 30) < 2 &&
             std::abs(found.regimes[1].last_x - 58) < 4;
    });
  };
  CHECK(right(0, RampScale::share) == 100);
  CHECK(right(0.001, RampScale::share) >= 95);
  CHECK(right(0.001, RampScale::log2) == 0);  // takes the bend for changes
}

TEST_CASE("Curves of few points, and of points that repeat", "[segmentation]") {
  for (std::size_t count = 1; count <= 5; ++count) {
    Curve curve;
    for (std::size_t i = 0; i < count; ++i) curve.push_back({1.0 + static_cast<double>(i), {7}});
    const Segmentation found = segment(curve);
    REQUIRE(found.regimes.size() == 1);
    CHECK(found.regimes[0].level == 7);
    CHECK(found.regimes[0].last_x == static_cast<double>(count));
    CHECK_FALSE(found.stability);  // one sample a point says nothing of it
    CHECK_FALSE(found.regimes[0].interval);
  }
  const Segmentation halves =
      segment(Curve{{1, {10}}, {2, {10}}, {4, {10}}, {8, {90}}, {16, {90}}, {32, {90}}});
  REQUIRE(kinds_of(halves) == Kinds{plateau, plateau});
  CHECK(halves.regimes[0].last_x == 4);
  CHECK(halves.regimes[1].first_x == 8);

  const Curve curve = draw(three, 40, {24, 0.02, 0.01}, 2);
  Curve split;
  for (const CurvePoint& point : curve)
    for (const double sample : point.samples) split.push_back({point.x, {sample}});
  const Segmentation whole = segment(curve), same = segment(split);
  CHECK(kinds_of(same) == kinds_of(whole));
  CHECK(same.regimes[1].change == whole.regimes[1].change);
}

TEST_CASE("Every change is found, of few points and of many", "[segmentation]") {
  const auto first_points = [](const std::vector<double>& y) {
    Curve curve;
    for (std::size_t i = 0; i < y.size(); ++i)
      curve.push_back({std::exp2(static_cast<double>(i) / 4), {y[i]}});
    std::vector<std::size_t> first;
    for (const Regime& regime : cut(curve).regimes) first.push_back(regime.first);
    return first;
  };
  CHECK(first_points({132, 132, 132, 132, 132, 82, 82, 82, 82, 82, 186, 186}) ==
        std::vector<std::size_t>{0, 5, 10});
  // Many changes, most of them between the places that are tried first.
  std::vector<double> steps;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 3000; ++i)
    steps.push_back((i / 5 % 2 == 1 ? 100 : 200) * (1 + 0.005 * normal(random)));
  CHECK(first_points(steps).size() == 600);
}

TEST_CASE("What is no curve is refused", "[segmentation]") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const Curve& bad :
       {Curve{}, Curve{{1, {}}}, Curve{{1, {nan}}}, Curve{{nan, {1}}}, Curve{{0, {1}}},
        Curve{{1, {0}}}, Curve{{1, {-1}}}, Curve{{2, {1}}, {1, {1}}}, Curve{{1, {infinity}}}})
    CHECK_THROWS_AS(segment(bad), std::invalid_argument);
  SegmentationOptions options;
  options.resolution = nan;
  CHECK_THROWS_AS(segment(Curve{{1, {1}}}, options), std::invalid_argument);
}

TEST_CASE("Entries make a curve", "[segmentation]") {
  std::vector<Entry> entries;
  for (const auto& [size, value] :
       std::initializer_list<std::pair<AxisValue, std::optional<double>>>{
           {std::int64_t{64}, 3}, {32.5, 2}, {std::string("x"), 9}, {std::int64_t{1}, {}}}) {
    Entry& entry = entries.emplace_back();
    entry.axes = {{"size", size}};
    entry.metric.value = value;
    entry.samples = {value.value_or(1)};
  }
  const std::vector<const Entry*> all = select(entries, {});
  const Curve curve = curve_of(all, "size");
  REQUIRE(curve.size() == 2);
  CHECK(curve[0].x == 32.5);
  CHECK(curve[1].samples == std::vector<double>{3});
  CHECK(curve_of(all, "stride").empty());
}
