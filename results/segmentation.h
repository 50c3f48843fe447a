#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "results/document.h"

namespace fathom {

/// What ramps of a curve are straight lines in.
enum class RampScale {
  log2,  ///< log2 x
  /// -1/x: of x bytes that are visited in random order, a cache that keeps any S of them misses the
  /// share 1 - S/x, so that a mean over hits and misses is a line in it, whatever a miss costs.
  share,
};

/// Ascends with x, which is above zero.
inline double ramp_coordinate(RampScale scale, double x) {
  return scale == RampScale::log2 ? std::log2(x) : -1 / x;
}

/// The x of such a coordinate.
inline double from_ramp_coordinate(RampScale scale, double u) {
  return scale == RampScale::log2 ? std::exp2(u) : -1 / u;
}

/// One point of a curve: what was measured at `x`. Samples are of the metric, at least one.
struct CurvePoint {
  double x = 0;
  std::vector<double> samples;
};

struct SegmentationOptions {
  RampScale scale = RampScale::log2;
  /// Differences far below this, relative to the level, are no regime however quiet the curve is:
  /// the noise is taken to be at least as large.
  double resolution = 0.005;
  int bootstraps = 200;
};

/// A stretch of the curve that one plateau or one line explains.
struct Regime {
  enum class Kind { plateau, ramp };
  Kind kind = Kind::plateau;
  std::size_t first = 0, last = 0;     ///< of the distinct x, ascending; inclusive
  double first_x = 0, last_x = 0;      ///< of its first and last point
  double first_y = 0, last_y = 0;      ///< fitted there; equal on a plateau
  double level = 0;                    ///< median of its points; the metric's unit
  std::optional<Interval> interval{};  ///< of the level
};

/// Between the last point of one regime and the first of the next.
struct Boundary {
  double below_x = 0, above_x = 0;
  /// Contains the change: from the low quantile of `below_x` to the high one of `above_x`.
  std::optional<Interval> interval;
};

struct Segmentation {
  std::vector<Regime> regimes{};       ///< at least one; together they cover the curve
  std::vector<Boundary> boundaries{};  ///< one fewer
  /// Share of the bootstrapped curves with the same number of regimes of the same kinds. Empty, as
  /// are the intervals, where no point has three samples to draw from.
  std::optional<double> stability{};
  RampScale scale = RampScale::log2;  ///< of the ramps, as asked for
};

/// Cuts a curve into as many regimes as it has: plateaus, and ramps, which are lines in log2 x or
/// what `scale` says. Takes the way to cut it that minimises
///   sum over points ((y - fit) / (noise y))^2 + sum over regimes penalty(kind) log n
/// exactly, by optimal partitioning (Jackson et al. 2005; Killick, Fearnhead and Eckley 2012). y is
/// the median of a point's samples. The penalty is Schwarz's criterion (Yao 1988) with the place of
/// a change counted as two parameters (Zhang and Siegmund 2007), raised until planted curves come
/// out right: 4 for a plateau, 7 for a ramp. A ramp of one or two points may only join two
/// plateaus. A plateau then takes from a ramp beside it the points within three times the noise of
/// its level.
///
/// The noise is relative: the spread of the samples' medians or, if that is larger, of the points
/// around the line through their neighbours. A point outside the range of its neighbours by more
/// than five times that is an outlier. What a first cut leaves then takes the place of the latter.
///
/// Intervals are percentiles over curves bootstrapped from the samples, of those that have the same
/// kinds of regimes: 95 % of them. Deterministic.
///
/// Points with the same x count as one. Takes about n^2 (1 + bootstraps) steps; of more than a
/// thousand points only likely places are tried. Throws std::invalid_argument for an empty curve, a
/// point without samples, x or samples that are not finite and above zero, x that descends, or
/// options out of range.
Segmentation segment(std::span<const CurvePoint> curve, const SegmentationOptions& options = {});

}  // namespace fathom
