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
#include <set>
#include <stdexcept>
#include <utility>

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

constexpr double infinite = std::numeric_limits<double>::infinity();

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
constexpr double fewest_of_piece = 3;

/// Up to so many points every place is tried.
constexpr std::size_t all_tried = 1000;
/// Beyond, no more than these, and then the places beside those that were taken.
constexpr std::size_t most_places = 400, beside = 3;

/// The cut of a curve into regimes with the least penalised cost. Plateaus have at least three used
/// points, ramps too unless they join two plateaus; a curve of fewer is one plateau.
class Partition {
 public:
  /// `u` ascends, `y` is above zero with a relative standard deviation of `noise`, points that are
  /// not `used` cost nothing; all as long.
  Partition(const std::vector<double>& u, const std::vector<double>& y,
            const std::vector<bool>& used, double noise)
      : u_(u), sums_(y.size() + 1) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      sums_[i + 1] = sums_[i];
      if (!used[i]) continue;
      const double w = 1 / (noise * y[i] * noise * y[i]);
      const double v = u[i] - u.front();  // less to cancel
      const Sums terms{w, w * v, w * v * v, w * y[i], w * v * y[i], w * y[i] * y[i], 1};
      std::ranges::transform(sums_[i], terms, sums_[i + 1].begin(), std::plus());
    }
    log_n_ = std::log(std::max(fewest_points, sums_.back().back()));
  }

  /// Regimes with their kinds, their points, and the fit's y at their ends.
  std::vector<Regime> best() const {
    const std::size_t n = u_.size();
    std::set<std::size_t> places{n};
    if (n <= all_tried)
      for (std::size_t at = 0; at < n; ++at) places.insert(places.end(), at);
    else
      for (const Regime& piece : best_cut(likely_places()))
        for (std::size_t at = piece.first - std::min(piece.first, beside);
             at < std::min(n, piece.first + beside + 1); ++at)
          places.insert(at);
    return best_cut(places);
  }

 private:
  /// Over the used points before an index, from which any stretch's fit follows: of weights w, wu,
  /// wuu, wy, wuy and wyy, and how many points they are.
  using Sums = std::array<double, 7>;
  struct Line {
    double points = 0, slope = 0, at_zero = 0, cost = 0;
  };
  /// joint: a ramp of one or two points. none: before the first piece.
  enum Kind : std::size_t { none, plateau, ramp, joint, kinds };

  /// A level, or the line where the points have a slope.
  Line fit(std::size_t begin, std::size_t end, bool sloped) const {
    Sums sums;
    std::ranges::transform(sums_[end], sums_[begin], sums.begin(), std::minus());
    const auto [w, wu, wuu, wy, wuy, wyy, points] = sums;
    if (points == 0) return {};
    const double spread = w * wuu - wu * wu;
    const double slope = sloped && points >= 2 && spread > 0 ? (w * wuy - wu * wy) / spread : 0;
    const double at_zero = (wy - slope * wu) / w;
    return {points, slope, at_zero, std::max(0.0, wyy - at_zero * wy - slope * wuy)};
  }

  Regime regime(std::size_t begin, std::size_t end, Kind kind) const {
    const Line line = fit(begin, end, kind != plateau);
    const auto at = [&](std::size_t point) {
      return line.at_zero + line.slope * (u_[point] - u_.front());
    };
    return {.kind = kind == plateau ? Regime::Kind::plateau : Regime::Kind::ramp,
            .first = begin,
            .last = end - 1,
            .first_y = at(begin),
            .last_y = at(end - 1)};
  }

  /// Where a stretch of a longer curve may begin, in n log n steps: of intervals of every length, a
  /// power of two each and half of one before the next, the two best cuts, between two levels and
  /// between two lines, if they are worth half of what a plateau costs (Kovacs, Buhlmann, Li and
  /// Munk, "Seeded binary segmentation", 2023).
  std::set<std::size_t> likely_places() const {
    const std::size_t n = u_.size();
    std::vector<std::pair<double, std::size_t>> gains;
    for (std::size_t length = 8; length < 2 * n; length *= 2) {
      for (std::size_t begin = 0; begin == 0 || begin + length / 2 < n; begin += length / 2) {
        const std::size_t end = std::min(n, begin + length);
        for (const bool sloped : {false, true}) {
          double best = infinite;
          std::size_t at = begin;
          for (std::size_t cut = begin + 1; cut < end; ++cut) {
            const double cost = fit(begin, cut, sloped).cost + fit(cut, end, sloped).cost;
            if (cost < best) best = cost, at = cut;
          }
          const double gain = fit(begin, end, sloped).cost - best;
          if (gain > plateau_penalty / 2 * log_n_) gains.emplace_back(gain, at);
        }
      }
    }
    std::ranges::sort(gains, std::greater<>());
    std::set<std::size_t> places{0, n};
    for (const auto& [gain, place] : gains)
      if (places.size() < most_places) places.insert(place);
    return places;
  }

  /// The best way to cut the points at some of these places, of which the first is 0 and the last
  /// the number of points.
  std::vector<Regime> best_cut(const std::set<std::size_t>& at) const {
    /// The best cut of all points before a place whose last piece is of a kind.
    struct Best {
      double cost = infinite;
      std::size_t begin = 0;  ///< of the last piece, as an index of the places
      Kind before = none;     ///< kind of the piece before it
    };
    const std::vector<std::size_t> places(at.begin(), at.end());
    std::vector<std::array<Best, kinds>> table(places.size());
    table[0][none].cost = 0;
    for (std::size_t to = 1; to < places.size(); ++to) {
      for (std::size_t from = 0; from < to; ++from) {
        const std::size_t begin = places[from], end = places[to];
        const auto improve = [&](Kind kind, std::initializer_list<Kind> follows, double cost) {
          for (const Kind before : follows)
            if (const double total = table[from][before].cost + cost; total < table[to][kind].cost)
              table[to][kind] = {total, from, before};
        };
        const Line level = fit(begin, end, false);
        if (level.points >= fewest_of_piece) {
          improve(plateau, {none, plateau, ramp, joint}, level.cost + plateau_penalty * log_n_);
          improve(ramp, {none, plateau, ramp}, fit(begin, end, true).cost + ramp_penalty * log_n_);
        } else if (level.points > 0) {
          improve(joint, {plateau}, (level.points == 1 ? point_penalty : ramp_penalty) * log_n_);
        }
      }
    }
    std::size_t to = places.size() - 1;
    Kind kind = table[to][ramp].cost < table[to][plateau].cost ? ramp : plateau;
    if (table[to][kind].cost == infinite) return {regime(0, u_.size(), plateau)};
    std::vector<Regime> pieces;
    while (to > 0) {
      const Best& best = table[to][kind];
      pieces.push_back(regime(places[best.begin], places[to], kind));
      to = best.begin;
      kind = best.before;
    }
    std::ranges::reverse(pieces);
    return pieces;
  }

  const std::vector<double>& u_;
  std::vector<Sums> sums_;
  double log_n_ = 0;
};

bool is_plateau(const Regime& regime) { return regime.kind == Regime::Kind::plateau; }

std::vector<double> drawn(const std::vector<double>& from, std::mt19937_64& random) {
  std::vector<double> draw(from.size());
  for (double& value : draw) value = from[random() % from.size()];
  return draw;
}

class Curve {
 public:
  Curve(std::vector<CurvePoint> points, const SegmentationOptions& options)
      : points_(std::move(points)), options_(options) {
    for (const CurvePoint& point : points_) {
      u_.push_back(ramp_coordinate(options.scale, point.x));
      y_.push_back(median(point.samples));
    }
    sample_noise_ = noise_of_samples(points_);
    noise_ = std::max({options.resolution, sample_noise_, noise_between_points(u_, y_)});
    for (std::size_t i = 0; i < y_.size(); ++i) used_.push_back(!is_outlier(u_, y_, i, noise_));
    noise_ = std::max({options.resolution, sample_noise_,
                       noise_of_residuals(Partition(u_, y_, used_, noise_).best())});
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
    std::vector<Regime> pieces = Partition(u_, y, used_, noise).best();
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

Segmentation segment(std::span<const CurvePoint> curve, const SegmentationOptions& options) {
  require(options.resolution > 0 && std::isfinite(options.resolution), "a resolution above zero");
  require(options.bootstraps >= 0, "a number of bootstraps");
  return Curve(distinct_points(curve), options).result();
}

}  // namespace fathom
