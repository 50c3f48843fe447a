#include "results/segmentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

#include "results/partition.h"
#include "results/query.h"
#include "results/statistics.h"

namespace fathom {
namespace {

constexpr double outlier_sigmas = 5;
/// A ramp that is no line fits better from one point earlier; a point this close to the plateau
/// beside it is the plateau's.
constexpr double plateau_sigmas = 3;
/// Samples from which a spread, or a bootstrapped median, can be told.
constexpr std::size_t enough_samples = 3;
constexpr double confidence = 0.95;

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

/// Checked, with the samples of equal x together.
std::vector<CurvePoint> distinct_points(std::span<const CurvePoint> curve) {
  require(!curve.empty(), "a curve of no points");
  std::vector<CurvePoint> points;
  for (const CurvePoint& point : curve) {
    require(std::isfinite(point.x) && point.x > 0, "x must be finite and above zero");
    require(!point.samples.empty(), "a point without samples");
    for (const double y : point.samples)
      require(std::isfinite(y) && y > 0, "samples must be finite and above zero");
    if (!points.empty() && points.back().x == point.x) {
      std::vector<double>& samples = points.back().samples;
      samples.insert(samples.end(), point.samples.begin(), point.samples.end());
      continue;
    }
    require(points.empty() || points.back().x < point.x, "x must not descend");
    points.push_back(point);
  }
  return points;
}

/// Standard deviation of a median of normal samples, relative to it; 0 where no point can tell.
double noise_of_samples(const std::vector<CurvePoint>& points) {
  std::vector<double> relative;
  for (const CurvePoint& point : points) {
    if (point.samples.size() < enough_samples) continue;
    // The median's variance is pi/2 that of the mean.
    const double of_median =
        std::sqrt(std::numbers::pi / 2 / static_cast<double>(point.samples.size()));
    relative.push_back(of_median * robust_spread(point.samples) / median(point.samples));
  }
  return relative.empty() ? 0 : median(relative);
}

/// Relative standard deviation of points about the line through their neighbours. The median of the
/// deviations decides, because the points beside a change have large ones.
double noise_between_points(const std::vector<double>& u, const std::vector<double>& y) {
  std::vector<double> deviations;
  for (std::size_t i = 1; i + 1 < y.size(); ++i) {
    const double t = (u[i] - u[i - 1]) / (u[i + 1] - u[i - 1]);
    const double line = std::lerp(y[i - 1], y[i + 1], t);
    deviations.push_back(std::abs(y[i] - line) / (y[i] * std::sqrt(1 + (1 - t) * (1 - t) + t * t)));
  }
  if (deviations.size() < enough_samples) return 0;
  return median(deviations) / normal_quantile(0.75);
}

/// Whether a point is far outside what its neighbours, two to either side, span. At the ends, where
/// a ramp goes on past its neighbours, outside what the line through them says as well.
bool is_outlier(const std::vector<double>& u, const std::vector<double>& y, std::size_t i,
                double noise) {
  const std::size_t n = y.size();
  if (n < 5) return false;
  std::vector<double> span;
  for (std::size_t j = i < 2 ? 0 : i - 2; j < std::min(n, i + 3); ++j)
    if (j != i) span.push_back(y[j]);
  if (i == 0 || i + 1 == n) {
    const std::size_t a = i == 0 ? 1 : n - 2, b = i == 0 ? 2 : n - 3;
    span.push_back(std::lerp(y[a], y[b], (u[i] - u[a]) / (u[b] - u[a])));
  }
  const auto [low, high] = std::ranges::minmax(span);
  return y[i] < low * (1 - outlier_sigmas * noise) || y[i] > high * (1 + outlier_sigmas * noise);
}

bool is_plateau(const Regime& regime) { return regime.kind == Regime::Kind::plateau; }

std::vector<double> medians(const std::vector<CurvePoint>& points) {
  std::vector<double> y;
  for (const CurvePoint& point : points) y.push_back(median(point.samples));
  return y;
}

std::vector<double> drawn(const std::vector<double>& from, std::mt19937_64& random) {
  std::vector<double> draw(from.size());
  for (double& value : draw) value = from[random() % from.size()];
  return draw;
}

class Curve {
 public:
  Curve(std::vector<CurvePoint> points, const SegmentationOptions& options)
      : points_(std::move(points)), options_(options), y_(medians(points_)) {
    for (const CurvePoint& point : points_) u_.push_back(ramp_coordinate(options.scale, point.x));
    sample_noise_ = noise_of_samples(points_);
    noise_ = std::max({options.resolution, sample_noise_, noise_between_points(u_, y_)});
    for (std::size_t i = 0; i < y_.size(); ++i) used_.push_back(!is_outlier(u_, y_, i, noise_));
    noise_ = std::max({options.resolution, sample_noise_,
                       noise_of_residuals(best_partition(u_, y_, used_, noise_))});
  }

  Segmentation result() const {
    Segmentation result{.regimes = cut(y_, noise_), .scale = options_.scale};
    for (Regime& regime : result.regimes) {
      regime.first_x = points_[regime.first].x;
      regime.last_x = points_[regime.last].x;
      regime.level = median(fitted(regime, y_));
      if (is_plateau(regime)) regime.first_y = regime.last_y = regime.level;
      if (regime.first > 0)
        result.boundaries.push_back({points_[regime.first - 1].x, regime.first_x, {}});
    }
    const bool can_draw = std::ranges::any_of(
        points_, [](const CurvePoint& p) { return p.samples.size() >= enough_samples; });
    if (can_draw && options_.bootstraps > 0) add_intervals(result);
    return result;
  }

 private:
  std::vector<Regime> cut(const std::vector<double>& y, double noise) const {
    std::vector<Regime> pieces = best_partition(u_, y, used_, noise);
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      Regime &before = pieces[i - 1], &after = pieces[i];
      if (is_plateau(before) == is_plateau(after)) continue;
      const double level = is_plateau(before) ? before.first_y : after.first_y;
      const auto joins = [&](std::size_t point) {
        return std::abs(y[point] / level - 1) <= plateau_sigmas * noise;
      };
      if (is_plateau(before))
        for (; after.first < after.last && joins(after.first); ++after.first, ++before.last)
          after.first_y = on_line(after, after.first + 1);
      else
        for (; before.first < before.last && joins(before.last); --before.last, --after.first)
          before.last_y = on_line(before, before.last - 1);
    }
    return pieces;
  }

  /// The fit of a piece at a point between its ends.
  double on_line(const Regime& piece, std::size_t point) const {
    if (piece.first == piece.last) return piece.first_y;
    return std::lerp(piece.first_y, piece.last_y,
                     (u_[point] - u_[piece.first]) / (u_[piece.last] - u_[piece.first]));
  }

  /// What is left between the curve and its fit, a parameter each for places, levels and slopes.
  double noise_of_residuals(const std::vector<Regime>& pieces) const {
    double squares = 0, freedom = 0;
    for (const Regime& piece : pieces) {
      std::size_t points = 0;
      for (std::size_t i = piece.first; i <= piece.last; ++i) {
        if (!used_[i]) continue;
        const double fit = on_line(piece, i);
        squares += (y_[i] / fit - 1) * (y_[i] / fit - 1);
        ++points;
      }
      freedom += static_cast<double>(points) - (is_plateau(piece) ? 2 : 3);
    }
    return freedom > 0 ? std::sqrt(squares / freedom) : noise_;
  }

  /// The points of a piece that are no outliers; all of them where there is no other.
  std::vector<double> fitted(const Regime& piece, const std::vector<double>& y) const {
    std::vector<double> values;
    for (std::size_t i = piece.first; i <= piece.last; ++i)
      if (used_[i]) values.push_back(y[i]);
    if (values.empty()) values.assign(y.begin() + piece.first, y.begin() + piece.last + 1);
    return values;
  }

  /// Bootstraps what is known of the regimes, from those resamples that have the same kinds.
  void add_intervals(Segmentation& result) const {
    std::vector<Regime>& regimes = result.regimes;
    std::vector<std::vector<double>> levels(regimes.size()), below_x(levels), above_x(levels);
    std::mt19937_64 random(1);
    // A resampled median has the noise of the median that it is drawn around besides its own.
    const double noise = std::hypot(noise_, sample_noise_);
    for (int draw = 0; draw < options_.bootstraps; ++draw) {
      std::vector<double> y;
      for (const CurvePoint& point : points_) y.push_back(median(drawn(point.samples, random)));
      const std::vector<Regime> again = cut(y, noise);
      if (!std::ranges::equal(again, regimes, {}, &Regime::kind, &Regime::kind)) continue;
      for (std::size_t i = 0; i < again.size(); ++i) {
        levels[i].push_back(median(drawn(fitted(again[i], y), random)));
        below_x[i].push_back(points_[again[i].first == 0 ? 0 : again[i].first - 1].x);
        above_x[i].push_back(points_[again[i].first].x);
      }
    }
    const std::size_t same = levels.front().size();
    result.stability = static_cast<double>(same) / options_.bootstraps;
    if (same == 0) return;
    const auto interval = [&](const std::vector<double>& low, const std::vector<double>& high) {
      const double tail = (1 - confidence) / 2;
      return Interval{quantile(low, tail), quantile(high, 1 - tail), confidence,
                      fmt::format("bootstrap percentiles, {} of {} resamples with the same regimes",
                                  same, options_.bootstraps)};
    };
    for (std::size_t i = 0; i < regimes.size(); ++i) {
      regimes[i].interval = interval(levels[i], levels[i]);
      if (i > 0) result.boundaries[i - 1].interval = interval(below_x[i], above_x[i]);
    }
  }

  std::vector<CurvePoint> points_;
  const SegmentationOptions& options_;
  std::vector<double> u_, y_;
  std::vector<bool> used_;
  double sample_noise_ = 0, noise_ = 0;
};

}  // namespace

std::vector<CurvePoint> curve_of(const std::vector<const Entry*>& entries,
                                 const std::string& axis) {
  std::vector<CurvePoint> curve;
  for (const Entry* entry : entries) {
    const AxisValue* value = find_axis(*entry, axis);
    if (!value || !entry->metric.value || entry->samples.empty()) continue;
    if (const auto* whole = std::get_if<std::int64_t>(value))
      curve.push_back({static_cast<double>(*whole), entry->samples});
    else if (const auto* number = std::get_if<double>(value))
      curve.push_back({*number, entry->samples});
  }
  std::ranges::stable_sort(curve, {}, &CurvePoint::x);
  return curve;
}

Segmentation segment(std::span<const CurvePoint> curve, const SegmentationOptions& options) {
  require(options.resolution > 0 && std::isfinite(options.resolution), "a resolution above zero");
  require(options.bootstraps >= 0, "a number of bootstraps");
  return Curve(distinct_points(curve), options).result();
}

}  // namespace fathom
