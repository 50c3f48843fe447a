#include "probes/topology/groups.h"

#include "tests/testing.h"

using namespace fathom;
using namespace fathom::topology;

namespace {

/// `columns` normal numbers.
std::vector<double> pattern(std::mt19937& random, std::size_t columns, double scale) {
  std::normal_distribution<double> normal;
  std::vector<double> values(columns);
  for (double& value : values) value = scale * normal(random);
  return values;
}

/// Things whose rows are their group's pattern and noise of `noise` standard deviations.
struct Planted {
  Rows rows;
  Labels labels;
};

Planted plant(std::size_t things, int groups, std::size_t columns, double noise, unsigned seed) {
  std::mt19937 random(seed);
  Rows patterns;
  for (int g = 0; g < groups; ++g) patterns.push_back(pattern(random, columns, 10));
  Planted planted;
  for (std::size_t i = 0; i < things; ++i) {
    const int group = planted.labels.emplace_back(static_cast<int>(i) % groups);
    std::vector<double>& row = planted.rows.emplace_back(pattern(random, columns, 10 * noise));
    for (std::size_t c = 0; c < columns; ++c) row[c] += 200 + patterns[group][c];
  }
  return planted;
}

/// 48 things on two sides, four groups on each, by patterns over 120 columns.
Rows at_two_scales(unsigned seed) {
  constexpr std::size_t columns = 120;
  std::mt19937 random(seed);
  const std::vector<double> side = pattern(random, columns, 1);
  Rows of_group, rows;
  for (int g = 0; g < 8; ++g) of_group.push_back(pattern(random, columns, 0.4));
  for (int i = 0; i < 48; ++i) {
    std::vector<double>& row = rows.emplace_back(pattern(random, columns, 0.1));
    for (std::size_t c = 0; c < columns; ++c)
      row[c] += (i % 8 < 4 ? 1 : -1) * side[c] + of_group[i % 8][c];
  }
  return double_centred(rows);
}

}  // namespace

TEST_CASE("planted groups are found with their number", "[results][clustering]") {
  for (const int groups : {2, 3, 8}) {
    for (const double noise : {0.0, 0.1, 0.5}) {
      CAPTURE(groups, noise);
      const Planted planted = plant(48, groups, 100, noise, 7);
      const Grouping found = parsimonious_clusters(planted.rows, 2, 24);
      CHECK(found.groups == groups);
      CHECK(adjusted_rand_index(found.labels, planted.labels) == 1);
      CHECK(found.silhouette > 0.5);
    }
  }
}

TEST_CASE("a permutation of the things permutes the groups", "[results][clustering]") {
  const Planted planted = plant(40, 5, 60, 0.5, 3);
  std::vector<std::size_t> order(40);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  Rows shuffled;
  Labels expected;
  for (const std::size_t i : order) shuffled.push_back(planted.rows[i]);
  for (const std::size_t i : order) expected.push_back(planted.labels[i]);
  CHECK(parsimonious_clusters(shuffled, 2, 20).labels == renumbered(expected));
}

TEST_CASE("two groups of two are as far apart as by hand", "[results][clustering]") {
  // 45 degrees within a group: 1 - 1 / sqrt(2). To the other group: 2, and 1 + 1 / sqrt(2).
  const Rows rows{{1, -1, 1, -1}, {-1, 1, -1, 1}, {2, 0, 0, -2}, {-2, 0, 0, 2}};
  const Grouping found = parsimonious_clusters(rows, 2, 2);
  CHECK(found.labels == Labels{0, 1, 0, 1});
  const double own = 1 - std::sqrt(0.5), next = (3 + std::sqrt(0.5)) / 2;
  CHECK_THAT(found.silhouette, WithinAbs((next - own) / next, 1e-12));
  CHECK(clusters(rows, 3) == Labels{0, 1, 0, 2});
  CHECK(clusters(rows, 4) == Labels{0, 1, 2, 3});
}

TEST_CASE("where two numbers of groups fit alike the smaller is chosen every time",
          "[results][clustering]") {
  std::set<int> widest;
  Labels sides;
  for (int i = 0; i < 48; ++i) sides.push_back(i % 8 / 4);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Grouping chosen = parsimonious_clusters(at_two_scales(seed), 2, 24);
    CHECK(chosen.labels == sides);
    CHECK(chosen.silhouette <= chosen.widest_silhouette);
    widest.insert(chosen.widest);
  }
  // The widest silhouette alone would have gone to and fro.
  CHECK(widest == std::set{2, 8});
}

TEST_CASE("things that are all alike, and few of them", "[results][clustering]") {
  CHECK(parsimonious_clusters(Rows(6, {1, 2, 3}), 2, 3).silhouette == 0);
  CHECK(parsimonious_clusters({{0}}, 1, 10).groups == 1);
  // Constant rows are as far from all others, and one column leaves nothing to choose by.
  CHECK(parsimonious_clusters({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}, 2, 2).groups == 2);
  CHECK(parsimonious_clusters({{1}, {2}, {3}}, 1, 3).groups == 1);
}

TEST_CASE("the adjusted Rand index is 1 for the same groups and 0 by chance",
          "[results][clustering]") {
  CHECK(adjusted_rand_index({0, 1, 2}, {2, 1, 0}) == 1);
  CHECK(adjusted_rand_index({0, 0, 0}, {0, 1, 2}) == 0);
  CHECK(adjusted_rand_index({}, {}) == 1);
  // By hand: 1 pair together in both, 4 in one, 3 in the other, 15 in all.
  const double by_chance = 4 * 3 / 15.0;
  CHECK_THAT(adjusted_rand_index({0, 0, 0, 1, 1, 2}, {0, 0, 1, 1, 2, 2}),
             WithinAbs((1 - by_chance) / (3.5 - by_chance), 1e-12));
}

TEST_CASE("connected things are one group", "[results][clustering]") {
  const Pairs pairs{{0, 4}, {4, 2}, {1, 5}, {5, 5}};
  CHECK(connected(6, pairs) == Labels{0, 1, 0, 2, 0, 1});
  CHECK(connected(3, {}) == Labels{0, 1, 2});
  CHECK(renumbered(std::vector<int>{7, 7, -1, 3, -1}) == Labels{0, 0, 1, 2, 1});
  CHECK(number_of_groups({}) == 0);
  CHECK(members({0, 1, 0}) == std::vector<std::vector<std::size_t>>{{0, 2}, {1}});
}
