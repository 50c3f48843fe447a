#include "results/partition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
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
constexpr std::size_t fewest_of_piece = 3;

enum Kind : std::size_t { plateau, ramp, joint, kinds };  // joint: a ramp of one or two points

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

  std::size_t points(std::size_t begin, std::size_t end) const {
    return static_cast<std::size_t>(sums_[end].back() - sums_[begin].back());
  }

  Line constant(std::size_t begin, std::size_t end) const {
    const auto [w, wu, wuu, wy, wuy, wyy, points] = between(begin, end);
    if (points == 0) return {};
    const double level = wy / w;
    return {0, level, std::max(0.0, wyy - level * wy)};
  }

  Line line(std::size_t begin, std::size_t end) const {
    const auto [w, wu, wuu, wy, wuy, wyy, points] = between(begin, end);
    const double spread = w * wuu - wu * wu;
    if (points < 2 || !(spread > 0)) return constant(begin, end);
    const double slope = (w * wuy - wu * wy) / spread;
    const double at_zero = (wy - slope * wu) / w;
    return {slope, at_zero, std::max(0.0, wyy - at_zero * wy - slope * wuy)};
  }

 private:
  FitSums between(std::size_t begin, std::size_t end) const {
    FitSums sums;
    std::ranges::transform(sums_[end], sums_[begin], sums.begin(), std::minus());
    return sums;
  }

  std::vector<FitSums> sums_;
};

/// The best cut of all points before an index whose last piece is of a kind.
struct Best {
  double cost = infinite;
  std::size_t begin = 0;  ///< of the last piece, as an index of the places
  Kind before = kinds;    ///< kind of the piece before it; `kinds`: there is none
};

using Table = std::vector<std::array<Best, kinds>>;

bool may_follow(Kind before, Kind kind) {
  if (kind == joint) return before == plateau;
  return kind == plateau || before != joint;
}

void improve(Table& table, std::size_t begin, std::size_t end, Kind kind, double cost) {
  Best& best = table[end][kind];
  if (begin == 0) {
    if (kind != joint && cost < best.cost) best = {cost, 0, kinds};
    return;
  }
  for (const Kind before : {plateau, ramp, joint}) {
    const double total = table[begin][before].cost + cost;
    if (may_follow(before, kind) && total < best.cost) best = {total, begin, before};
  }
}

/// Up to so many points every place is tried.
constexpr std::size_t all_tried = 1000;
/// Beyond, no more than these, and then the places beside those that were taken.
constexpr std::size_t most_places = 400, beside = 3;

/// Where a stretch of a longer curve may begin, without trying all: of intervals of every length, a
/// power of two each and half of one before the next, the two best cuts, between two levels and
/// between two lines, if they are worth half of what a plateau costs (Kovacs, Buhlmann, Li and
/// Munk, "Seeded binary segmentation", 2023). Takes n log n steps.
std::vector<std::size_t> likely_places(const Stretches& stretches, std::size_t n, double log_n) {
  std::vector<std::pair<double, std::size_t>> gains;
  const auto add_best = [&](std::size_t begin, std::size_t end, auto fit) {
    double best = infinite;
    std::size_t at = begin;
    for (std::size_t cut = begin + 1; cut < end; ++cut) {
      const double cost = (stretches.*fit)(begin, cut).cost + (stretches.*fit)(cut, end).cost;
      if (cost < best) best = cost, at = cut;
    }
    const double gain = (stretches.*fit)(begin, end).cost - best;
    if (gain > plateau_penalty / 2 * log_n) gains.emplace_back(gain, at);
  };
  for (std::size_t length = 8; length < 2 * n; length *= 2) {
    for (std::size_t begin = 0; begin == 0 || begin + length / 2 < n; begin += length / 2) {
      const std::size_t end = std::min(n, begin + length);
      add_best(begin, end, &Stretches::constant);
      add_best(begin, end, &Stretches::line);
    }
  }
  std::ranges::sort(gains, std::greater<>());
  std::set<std::size_t> places{0, n};
  for (const auto& [gain, place] : gains) {
    if (places.size() == most_places) break;
    places.insert(place);
  }
  return {places.begin(), places.end()};
}

/// The best way to cut the points at some of `places`, of which the first is 0 and the last their
/// number; its pieces' beginnings and kinds.
std::vector<std::pair<std::size_t, Kind>> best_cut(const Stretches& stretches,
                                                   const std::vector<std::size_t>& places,
                                                   double log_n) {
  Table table(places.size());
  for (std::size_t to = 1; to < places.size(); ++to) {
    for (std::size_t from = 0; from < to; ++from) {
      const std::size_t begin = places[from], end = places[to];
      const std::size_t points = stretches.points(begin, end);
      if (points >= fewest_of_piece) {
        improve(table, from, to, plateau,
                stretches.constant(begin, end).cost + plateau_penalty * log_n);
        improve(table, from, to, ramp, stretches.line(begin, end).cost + ramp_penalty * log_n);
      } else if (points == 1 || points == 2) {
        improve(table, from, to, joint, (points == 1 ? point_penalty : ramp_penalty) * log_n);
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
  const double log_n =
      std::log(std::max(fewest_points, static_cast<double>(stretches.points(0, n))));
  std::vector<std::pair<std::size_t, Kind>> pieces;
  if (n <= all_tried) {
    std::vector<std::size_t> places(n + 1);
    std::iota(places.begin(), places.end(), std::size_t{0});
    pieces = best_cut(stretches, places, log_n);
  } else {
    pieces = best_cut(stretches, likely_places(stretches, n, log_n), log_n);
    std::set<std::size_t> near{0, n};
    for (const auto& [place, kind] : pieces)
      for (std::size_t at = place - std::min(place, beside); at <= std::min(n, place + beside);
           ++at)
        near.insert(at);
    pieces = best_cut(stretches, {near.begin(), near.end()}, log_n);
  }

  std::vector<Regime> cut;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto [begin, kind] = pieces[i];
    const std::size_t end = i + 1 < pieces.size() ? pieces[i + 1].first : n;
    const Line fit = kind == plateau ? stretches.constant(begin, end) : stretches.line(begin, end);
    const auto at = [&](std::size_t point) {
      return fit.at_zero + fit.slope * (u[point] - u.front());
    };
    Regime& regime = cut.emplace_back();
    regime.kind = kind == plateau ? Regime::Kind::plateau : Regime::Kind::ramp;
    regime.first = begin;
    regime.last = end - 1;
    regime.first_y = at(begin);
    regime.last_y = at(end - 1);
  }
  return cut;
}

}  // namespace fathom
