#include "results/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>

namespace fathom {
namespace {

constexpr double outlier_sigmas = 5;
/// A ramp that is no line fits better from one point earlier; a point this close to the plateau
/// beside it is the plateau's.
constexpr double plateau_sigmas = 3;
/// Samples from which a spread, or a bootstrapped median, can be told.
constexpr std::size_t enough_samples = 3;

// In units of log n. Zhang and Siegmund's 3 for a change and its level, 1 more for the noise that
// is estimated, and for a ramp as much again for its slope: lines bend to fit the ends of plateaus.
// With these, at least 98 of 100 planted curves of 20 to 80 points come out right (unit tests).
constexpr double plateau_penalty = 4, ramp_penalty = 7;
/// A single point between two plateaus has a place and a level; and so that it is preferred to two
/// such points, a little more than a plateau.
constexpr double point_penalty = 5;
/// Below this many points the estimated noise is worth less, and the penalty falls no further.
constexpr double fewest_points = 40;

/// Points of a plateau, and of a ramp that does not join two plateaus.
constexpr std::size_t fewest_of_piece = 3;

/// Where a piece may begin: at each point, of longer curves at so many.
constexpr std::size_t most_places = 1000;

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

/// Checks x and signs; median() refuses what is empty or not finite. Joins samples of equal x.
std::vector<CurvePoint> distinct_points(std::span<const CurvePoint> curve) {
  require(!curve.empty(), "a curve of no points");
  std::vector<CurvePoint> points;
  for (const CurvePoint& point : curve) {
    require(std::isfinite(point.x) && point.x > 0, "x must be finite and above zero");
    for (const double y : point.samples) require(y > 0, "samples must be above zero");
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
  return median_or_none(relative).value_or(0);
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
  return deviations.size() < enough_samples ? 0 : median(deviations) * mad_to_standard_deviation;
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

/// joint: a ramp of one or two points between two plateaus. none: before the first piece.
enum Kind : std::size_t { none, plateau, ramp, joint, kinds };

/// Of a curve: its points from `begin` to before `end`, and the level or line through them.
struct Piece {
  Kind kind = plateau;
  std::size_t begin = 0, end = 0;
  double slope = 0, at_zero = 0, cost = 0;

  double at(double u) const { return at_zero + slope * u; }
  std::size_t points() const { return end - begin; }
};

/// The points of a curve as sums, from which the fit to any stretch of them follows.
class Fits {
 public:
  /// `u` ascends from 0; `y` is above zero with a relative standard deviation of `noise`.
  Fits(const std::vector<double>& u, const std::vector<double>& y, double noise)
      : sums_(y.size() + 1),
        log_n_(std::log(std::max(fewest_points, static_cast<double>(y.size())))) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double w = 1 / (noise * y[i] * noise * y[i]);
      const Sums terms{w, w * u[i], w * u[i] * u[i], w * y[i], w * u[i] * y[i], w * y[i] * y[i]};
      std::ranges::transform(sums_[i], terms, sums_[i + 1].begin(), std::plus());
    }
  }

  /// A level, or the line where the points have a slope; its cost with the penalty for its kind.
  Piece piece(std::size_t begin, std::size_t end, Kind kind) const {
    Sums sums;
    std::ranges::transform(sums_[end], sums_[begin], sums.begin(), std::minus());
    const auto [w, wu, wuu, wy, wuy, wyy] = sums;
    const double spread = w * wuu - wu * wu;
    const bool sloped = kind != plateau && end - begin >= 2 && spread > 0;
    const double slope = sloped ? (w * wuy - wu * wy) / spread : 0;
    const double at_zero = (wy - slope * wu) / w;
    const double cost = kind == joint ? 0 : std::max(0.0, wyy - at_zero * wy - slope * wuy);
    const double penalty = kind == plateau                     ? plateau_penalty
                           : kind == joint && end - begin == 1 ? point_penalty
                                                               : ramp_penalty;
    return {kind, begin, end, slope, at_zero, cost + penalty * log_n_};
  }

  /// The pieces that cost the least in all, of the ways to cut the points at some of these places,
  /// of which the first is 0 and the last the number of points. Plateaus have at least three
  /// points, ramps too unless they join two plateaus; a curve of fewer is one plateau.
  std::vector<Piece> best(const std::vector<std::size_t>& places) const {
    /// The best cut of all points before a place whose last piece is of a kind.
    struct Best {
      double cost = std::numeric_limits<double>::infinity();
      std::size_t begin = 0;  ///< of the last piece, as an index of the places
      Kind before = none;     ///< kind of the piece before it
    };
    std::vector<std::array<Best, kinds>> table(places.size());
    table[0][none].cost = 0;
    for (std::size_t to = 1; to < places.size(); ++to) {
      for (std::size_t from = 0; from < to; ++from) {
        const auto improve = [&](Kind kind, std::initializer_list<Kind> follows) {
          const double cost = piece(places[from], places[to], kind).cost;
          for (const Kind before : follows)
            if (const double total = table[from][before].cost + cost; total < table[to][kind].cost)
              table[to][kind] = {total, from, before};
        };
        if (places[to] - places[from] < fewest_of_piece) {
          improve(joint, {plateau});
          continue;
        }
        improve(plateau, {none, plateau, ramp, joint});
        improve(ramp, {none, plateau, ramp});
      }
    }
    std::size_t to = places.size() - 1;
    Kind kind = table[to][ramp].cost < table[to][plateau].cost ? ramp : plateau;
    if (std::isinf(table[to][kind].cost)) return {piece(0, places[to], plateau)};
    std::vector<Piece> pieces;
    while (to > 0) {
      const Best& best = table[to][kind];
      pieces.push_back(piece(places[best.begin], places[to], kind));
      to = best.begin;
      kind = best.before;
    }
    std::ranges::reverse(pieces);
    return pieces;
  }

 private:
  /// Over the points before an index: of weights w, wu, wuu, wy, wuy and wyy.
  using Sums = std::array<double, 6>;
  std::vector<Sums> sums_;
  double log_n_;
};

/// The best cut, at any point; of a long curve at evenly spaced ones, which are then moved to where
/// the pieces beside them cost the least.
std::vector<Piece> best_cut(const std::vector<double>& u, const std::vector<double>& y,
                            double noise) {
  const Fits fits(u, y, noise);
  const std::size_t n = y.size(), stride = (n + most_places - 1) / most_places;
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < n; at += stride) places.push_back(at);
  places.push_back(n);
  const std::vector<Piece> pieces = fits.best(places);
  if (stride == 1) return pieces;
  places = {0};
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const Piece &before = pieces[i - 1], &after = pieces[i];
    std::size_t best = after.begin;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t at = std::max(places.back(), after.begin - stride) + 1;
         at < std::min(after.end, after.begin + stride); ++at) {
      const double cost = fits.piece(before.begin, at, before.kind).cost +
                          fits.piece(at, after.end, after.kind).cost;
      if (cost < least) least = cost, best = at;
    }
    places.push_back(best);
  }
  places.push_back(n);
  return fits.best(places);
}

std::vector<double> drawn(std::span<const double> from, std::mt19937_64& random) {
  std::vector<double> draw(from.size());
  for (double& value : draw) value = from[random() % from.size()];
  return draw;
}

/// The points of a curve but for its outliers, and how they are cut.
class Curve {
 public:
  Curve(const std::vector<CurvePoint>& points, const SegmentationOptions& options)
      : options_(options), sample_noise_(noise_of_samples(points)) {
    std::vector<double> u, y;
    for (const CurvePoint& point : points) {
      x_.push_back(point.x);
      u.push_back(u_of(point.x));
      y.push_back(median(point.samples));
    }
    noise_ = std::max({options.resolution, sample_noise_, noise_between_points(u, y)});
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (is_outlier(u, y, i, noise_)) continue;
      points_.push_back(points[i]);
      place_.push_back(i);
      u_.push_back(u[i]);
      y_.push_back(y[i]);
    }
    noise_ = std::max({options.resolution, sample_noise_, noise_of_residuals()});
  }

  Segmentation result() const {
    Segmentation result{.scale = options_.scale};
    const std::vector<Piece> pieces = cut(y_, noise_);
    for (const Piece& piece : pieces) {
      const std::size_t first = first_of(piece), last = last_of(piece);
      const bool level = piece.kind == plateau;
      const double middle = median(std::span(y_).subspan(piece.begin, piece.points()));
      result.regimes.push_back({.kind = level ? Regime::Kind::plateau : Regime::Kind::ramp,
                                .first = first,
                                .last = last,
                                .first_x = x_[first],
                                .last_x = x_[last],
                                .first_y = level ? middle : piece.at(u_of(x_[first])),
                                .last_y = level ? middle : piece.at(u_of(x_[last])),
                                .level = middle});
    }
    const bool can_draw = std::ranges::any_of(
        points_, [](const CurvePoint& p) { return p.samples.size() >= enough_samples; });
    if (can_draw && options_.bootstraps > 0) add_intervals(pieces, result);
    return result;
  }

 private:
  /// From the first point's: less to cancel.
  double u_of(double x) const {
    return ramp_coordinate(options_.scale, x) - ramp_coordinate(options_.scale, x_.front());
  }

  /// Of all points, so that an outlier between two pieces goes to the second.
  std::size_t first_of(const Piece& piece) const {
    return piece.begin == 0 ? 0 : place_[piece.begin - 1] + 1;
  }
  std::size_t last_of(const Piece& piece) const {
    return piece.end == place_.size() ? x_.size() - 1 : place_[piece.end - 1];
  }

  std::vector<Piece> cut(const std::vector<double>& y, double noise) const {
    std::vector<Piece> pieces = best_cut(u_, y, noise);
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      Piece &before = pieces[i - 1], &after = pieces[i];
      if ((before.kind == plateau) == (after.kind == plateau)) continue;
      const double level = (before.kind == plateau ? before : after).at(0);
      const auto joins = [&](std::size_t point) {
        return std::abs(y[point] / level - 1) <= plateau_sigmas * noise;
      };
      if (before.kind == plateau)
        while (after.points() > 1 && joins(after.begin)) before.end = ++after.begin;
      else
        while (before.points() > 1 && joins(before.end - 1)) after.begin = --before.end;
    }
    return pieces;
  }

  /// What is left between the curve and its fit, a parameter each for places, levels and slopes.
  double noise_of_residuals() const {
    double squares = 0, freedom = 0;
    for (const Piece& piece : best_cut(u_, y_, noise_)) {
      for (std::size_t i = piece.begin; i < piece.end; ++i)
        squares += std::pow(y_[i] / piece.at(u_[i]) - 1, 2);
      freedom += static_cast<double>(piece.points()) - (piece.kind == plateau ? 2 : 3);
    }
    return freedom > 0 ? std::sqrt(squares / freedom) : noise_;
  }

  /// Bootstraps what is known of the regimes, from those resamples that have the same kinds.
  void add_intervals(const std::vector<Piece>& pieces, Segmentation& result) const {
    const auto is_plateau = [](const Piece& piece) { return piece.kind == plateau; };
    std::vector<std::vector<double>> levels(pieces.size()), below_x(levels), above_x(levels);
    std::mt19937_64 random(1);
    // A resampled median has the noise of the median that it is drawn around besides its own.
    const double noise = std::hypot(noise_, sample_noise_);
    for (int draw = 0; draw < options_.bootstraps; ++draw) {
      std::vector<double> y;
      for (const CurvePoint& point : points_) y.push_back(median(drawn(point.samples, random)));
      const std::vector<Piece> again = cut(y, noise);
      if (!std::ranges::equal(again, pieces, {}, is_plateau, is_plateau)) continue;
      for (std::size_t i = 0; i < again.size(); ++i) {
        const auto own = std::span(y).subspan(again[i].begin, again[i].points());
        levels[i].push_back(median(drawn(own, random)));
        const std::size_t first = first_of(again[i]);
        below_x[i].push_back(x_[std::max<std::size_t>(first, 1) - 1]);
        above_x[i].push_back(x_[first]);
      }
    }
    const std::size_t same = levels.front().size();
    result.stability = static_cast<double>(same) / options_.bootstraps;
    if (same == 0) return;
    const auto interval = [&](const std::vector<double>& low, const std::vector<double>& high) {
      const double tail = (1 - interval_level) / 2;
      return Interval{quantile(low, tail), quantile(high, 1 - tail), interval_level,
                      fmt::format("bootstrap percentiles, {} of {} resamples with the same regimes",
                                  same, options_.bootstraps)};
    };
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      result.regimes[i].interval = interval(levels[i], levels[i]);
      if (i > 0) result.regimes[i].change = interval(below_x[i], above_x[i]);
    }
  }

  const SegmentationOptions& options_;
  std::vector<double> x_;           ///< of all points, the distinct x
  std::vector<CurvePoint> points_;  ///< those that are no outliers, as what follows
  std::vector<std::size_t> place_;  ///< among all
  std::vector<double> u_, y_;
  double sample_noise_ = 0, noise_ = 0;
};

}  // namespace

Segmentation segment(std::span<const CurvePoint> curve, const SegmentationOptions& options) {
  require(options.resolution > 0 && std::isfinite(options.resolution), "a resolution above zero");
  return Curve(distinct_points(curve), options).result();
}

}  // namespace fathom
