#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "results/document.h"

namespace fathom {

// Robust statistics of samples. Every function of samples throws std::invalid_argument for none and
// for one that is not finite: a NaN never passes through into a result.

/// Middle of the sorted samples; the mean of the two middle ones where their number is even.
double median(std::span<const double> samples);

/// The same, or nothing where there are no samples.
std::optional<double> median_or_none(std::span<const double> samples);

/// Linear interpolation between the two nearest order statistics (Hyndman and Fan's type 7);
/// `p` from 0 to 1.
double quantile(std::span<const double> samples, double p);

/// Mean of the samples from the first quartile to the third: as little moved by outliers as the
/// median nearly, but finer than a clock's tick where samples are whole ticks. For fewer
/// than four samples, the mean of all.
double interquartile_mean(std::span<const double> samples);

/// The share of intervals that should cover the true median.
inline constexpr double interval_level = 0.95;

/// Interval for the median from two order statistics: whatever the distribution, the number of
/// samples below its median is binomial(n, 1/2), so the interval from the k-th smallest to the k-th
/// largest covers it with probability at least 1 - 2 P(X < k). Takes the narrowest such interval
/// that reaches that level, and states in `Interval::confidence` what it reaches. Fewer than six
/// samples cannot reach 95 %: the interval is then their whole range, with the lower confidence
/// that it has. Assumes independent samples.
Interval median_interval(std::span<const double> samples);

/// How much better `own` is than `opponent`, sample by sample: the median of own/opponent where
/// higher is better, of opponent/own where lower is, so that above 1 is better for `own`.
struct PairedRatio {
  double median = 0;
  Interval interval;
};

/// Pairs samples by their index, as timed alternately. Throws std::invalid_argument unless there
/// are as many of both and all are above zero.
PairedRatio paired_ratio(std::span<const double> own, std::span<const double> opponent,
                         Better better);

/// For normal samples the median absolute deviation is the standard deviation times the 0.75
/// quantile of the standard normal distribution; this is one over that quantile.
inline constexpr double mad_to_standard_deviation = 1.482602218505602;

/// Median absolute deviation from the median, times that: estimates the standard deviation of
/// normal samples, and is not moved by outliers.
double robust_spread(std::span<const double> samples);

/// Half the interval's width over `centre`; throws std::invalid_argument for a centre of zero.
double relative_half_width(const Interval& interval, double centre);

/// The t with P(T >= t) = p of Student's t, exact for small p too.
double student_upper_quantile(double degrees, double p);

// The regimes of a curve.

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
  /// Contains the change from the regime before: from the low quantile of that one's last x to the
  /// high one of its own first. Empty for the first.
  std::optional<Interval> change{};
};

struct Segmentation {
  std::vector<Regime> regimes{};  ///< at least one; together they cover the curve
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
/// thousand points every n/1000-th is tried as a place, and each change then moved to where it fits
/// best. Throws std::invalid_argument for an empty curve, a point without samples, x or samples
/// that are not finite and above zero, x that descends, or options out of range.
Segmentation segment(std::span<const CurvePoint> curve, const SegmentationOptions& options = {});

}  // namespace fathom
