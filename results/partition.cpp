#include "results/partition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

namespace fathom {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// In units of log n. Zhang and Siegmund's 3 for a change and its level, 1 more for the noise that
// is estimated, and for a ramp as much again for its slope: lines bend to fit the ends of plateaus.
// With these, at least 98 of 100 planted curves of 20 to 80 points come out right (the unit tests).
constexpr double plateau_penalty = 4, ramp_penalty = 7;
/// A single point between two plateaus has a place and a level; and so that it is preferred to two
/// such points, a little more than a plateau.
constexpr double point_penalty = 5;
/// Below this many points the estimated noise is worth less, and the penalty falls no further.
constexpr double fewest_points = 40;

/// Points of a plateau, and of a ramp that does not join two plateaus.
constexpr double fewest_of_piece = 3;

/// joint: a ramp of one or two points. none: before the first piece.
enum Kind : std::size_t { none, plateau, ramp, joint, kinds };

/// Sums over the used points before an index, from which any stretch's fit follows: of weights w,
/// wu, wuu, wy, wuy and wyy, and how many points they are.
using FitSums = std::array<double, 7>;

struct Line {
  double slope = 0, at_zero = 0, cost = 0;
};

class Stretches {
 public:
  Stretches(const std::vector<double>& u, const std::vector<double>& y,
            const std::vector<bool>& used, double noise)
      : sums_(y.size() + 1) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      sums_[i + 1] = sums_[i];
      if (!used[i]) continue;
      const double w = 1 / (noise * y[i] * noise * y[i]);
      const double v = u[i] - u.front();  // less to cancel
      const FitSums terms{w, w * v, w * v * v, w * y[i], w * v * y[i], w * y[i] * y[i], 1};
      std::ranges::transform(sums_[i], terms, sums_[i + 1].begin(), std::plus());
    }
  }

  double points(std::size_t begin, std::size_t end) const {
    return sums_[end].back() - sums_[begin].back();
  }

  /// A level, or the line where the points have a slope.
  Line fit(std::size_t begin, std::size_t end, bool sloped) const {
    FitSums sums;
    std::ranges::transform(sums_[end], sums_[begin], sums.begin(), std::minus());
    const auto [w, wu, wuu, wy, wuy, wyy, points] = sums;
    if (points == 0) return {};
    const double spread = w * wuu - wu * wu;
    const double slope = sloped && points >= 2 && spread > 0 ? (w * wuy - wu * wy) / spread : 0;
    const double at_zero = (wy - slope * wu) / w;
    return {slope, at_zero, std::max(0.0, wyy - at_zero * wy - slope * wuy)};
  }

 private:
  std::vector<FitSums> sums_;
};

/// Up to so many points every place is tried.
constexpr std::size_t all_tried = 1000;
/// Beyond, no more than these, and then the places beside those that were taken.
constexpr std::size_t most_places = 400, beside = 3;

/// Where a stretch of a longer curve may begin, without trying all: of intervals of every length, a
/// power of two each and half of one before the next, the two best cuts, between two levels and
/// between two lines, if they are worth half of what a plateau costs (Kovacs, Buhlmann, Li and
/// Munk, "Seeded binary segmentation", 2023). Takes n log n steps.
std::set<std::size_t> likely_places(const Stretches& stretches, std::size_t n, double log_n) {
  std::vector<std::pair<double, std::size_t>> gains;
  for (std::size_t length = 8; length < 2 * n; length *= 2) {
    for (std::size_t begin = 0; begin == 0 || begin + length / 2 < n; begin += length / 2) {
      const std::size_t end = std::min(n, begin + length);
      for (const bool sloped : {false, true}) {
        double best = infinite;
        std::size_t at = begin;
        for (std::size_t cut = begin + 1; cut < end; ++cut) {
          const double cost =
              stretches.fit(begin, cut, sloped).cost + stretches.fit(cut, end, sloped).cost;
          if (cost < best) best = cost, at = cut;
        }
        const double gain = stretches.fit(begin, end, sloped).cost - best;
        if (gain > plateau_penalty / 2 * log_n) gains.emplace_back(gain, at);
      }
    }
  }
  std::ranges::sort(gains, std::greater<>());
  std::set<std::size_t> places{0, n};
  for (const auto& [gain, place] : gains)
    if (places.size() < most_places) places.insert(place);
  return places;
}

bool may_follow(Kind before, Kind kind) {
  if (kind == joint) return before == plateau;
  return kind == plateau || before != joint;
}

/// The best way to cut the points at some of `places`, of which the first is 0 and the last their
/// number; its pieces' beginnings and kinds.
std::vector<std::pair<std::size_t, Kind>> best_cut(const Stretches& stretches,
                                                   const std::set<std::size_t>& at, double log_n) {
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
      const auto improve = [&](Kind kind, double cost) {
        Best& best = table[to][kind];
        for (const Kind before : {none, plateau, ramp, joint}) {
          const double total = table[from][before].cost + cost;
          if (may_follow(before, kind) && total < best.cost) best = {total, from, before};
        }
      };
      const double points = stretches.points(begin, end);
      if (points >= fewest_of_piece) {
        improve(plateau, stretches.fit(begin, end, false).cost + plateau_penalty * log_n);
        improve(ramp, stretches.fit(begin, end, true).cost + ramp_penalty * log_n);
      } else if (points > 0) {
        improve(joint, (points == 1 ? point_penalty : ramp_penalty) * log_n);
      }
    }
  }
  std::vector<std::pair<std::size_t, Kind>> pieces;
  std::size_t to = places.size() - 1;
  Kind kind = table[to][ramp].cost < table[to][plateau].cost ? ramp : plateau;
  if (table[to][kind].cost == infinite) return {{0, plateau}};
  while (to > 0) {
    const Best& best = table[to][kind];
    pieces.emplace_back(places[best.begin], kind);
    to = best.begin;
    kind = best.before;
  }
  std::ranges::reverse(pieces);
  return pieces;
}

}  // namespace

std::vector<Regime> best_partition(const std::vector<double>& u, const std::vector<double>& y,
                                   const std::vector<bool>& used, double noise) {
  const Stretches stretches(u, y, used, noise);
  const std::size_t n = y.size();
  const double log_n = std::log(std::max(fewest_points, stretches.points(0, n)));
  std::set<std::size_t> places{n};
  if (n <= all_tried)
    for (std::size_t at = 0; at < n; ++at) places.insert(places.end(), at);
  else
    for (const auto& [place, kind] : best_cut(stretches, likely_places(stretches, n, log_n), log_n))
      for (std::size_t at = place - std::min(place, beside); at < std::min(n, place + beside + 1);
           ++at)
        places.insert(at);
  std::vector<Regime> cut;
  const auto pieces = best_cut(stretches, places, log_n);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto [begin, kind] = pieces[i];
    const std::size_t end = i + 1 < pieces.size() ? pieces[i + 1].first : n;
    const Line fit = stretches.fit(begin, end, kind != plateau);
    const auto at = [&](std::size_t point) {
      return fit.at_zero + fit.slope * (u[point] - u.front());
    };
    cut.push_back({.kind = kind == plateau ? Regime::Kind::plateau : Regime::Kind::ramp,
                   .first = begin,
                   .last = end - 1,
                   .first_y = at(begin),
                   .last_y = at(end - 1)});
  }
  return cut;
}

}  // namespace fathom
