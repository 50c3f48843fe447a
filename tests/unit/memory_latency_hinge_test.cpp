#include "probes/memory_latency/facts.h"
#include "tests/testing.h"

using namespace fathom;
using memory_latency::hinge;

namespace {

/// Points 1 apart from 30 to 90 whose slope over log2 x changes at `at`.
std::vector<CurvePoint> bent(double at, double before, double after, double noise) {
  std::mt19937 random(7);
  std::normal_distribution<double> error(0, noise);
  std::vector<CurvePoint> curve;
  for (double x = 30; x <= 90; ++x) {
    const double u = std::log2(x) - std::log2(at);
    curve.push_back({x, {400 + (u < 0 ? before : after) * u + error(random)}});
  }
  return curve;
}

}  // namespace

TEST_CASE("A hinge is found between points, also under noise", "[results][hinge]") {
  CHECK_THAT(*hinge(bent(59.3, 110, 170, 0), 57), WithinAbs(59.3, 0.1));
  CHECK_THAT(*hinge(bent(59.3, 110, 170, 0.4), 57), WithinAbs(59.3, 1));
  CHECK_THAT(*hinge(bent(59.3, 110, 170, 0.4), 62), WithinAbs(59.3, 1));
}

TEST_CASE("A hinge of shares is found", "[results][hinge]") {
  std::vector<CurvePoint> curve;
  for (double x = 40; x <= 80; ++x) {
    curve.push_back({x, {400 + 250 * (1 - 30 / x) + 150 * std::max(0.0, 1 - 59.3 / x)}});
  }
  CHECK_THAT(*hinge(curve, 57, RampScale::share), WithinAbs(59.3, 0.1));
}

TEST_CASE("Too few points around a place have no hinge", "[results][hinge]") {
  CHECK_FALSE(hinge(std::vector<CurvePoint>{}, 5).has_value());
  CHECK_FALSE(hinge(bent(59, 1, 2, 0), 10).has_value());
  CHECK_THROWS_AS(hinge(bent(59, 1, 2, 0), 0), std::invalid_argument);
  CHECK_THROWS_AS(hinge(bent(59, 1, 2, 0), 59, RampScale::log2, 1), std::invalid_argument);
}
