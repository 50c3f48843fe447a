#include "probes/memory_latency/facts.h"
#include "tests/testing.h"

using namespace fathom;
using memory_latency::hinge;

namespace {

/// Points 1 apart from 30 to 90 whose slope over shares changes at `at`.
std::vector<CurvePoint> bent(double at, double noise) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<CurvePoint> curve;
  for (double x = 30; x <= 90; ++x) {
    const double y = 400 + 250 * (1 - 30 / x) + 150 * std::max(0.0, 1 - at / x);
    curve.push_back({x, {y + noise * normal(random)}});
  }
  return curve;
}

}  // namespace

TEST_CASE("A hinge is found between points, also under noise", "[results][hinge]") {
  CHECK_THAT(*hinge(bent(59.3, 0), 57), WithinAbs(59.3, 0.1));
  CHECK_THAT(*hinge(bent(59.3, 0.4), 57), WithinAbs(59.3, 1));
  CHECK_THAT(*hinge(bent(59.3, 0.4), 62), WithinAbs(59.3, 1));
}

TEST_CASE("Too few points around a place have no hinge", "[results][hinge]") {
  CHECK_FALSE(hinge({}, 5).has_value());
  CHECK_FALSE(hinge(bent(59, 0), 10).has_value());
}
