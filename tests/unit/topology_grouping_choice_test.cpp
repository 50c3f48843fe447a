#include "probes/topology/clustering.h"
#include "tests/testing.h"

using namespace fathom;

namespace {

/// 48 things on two sides, four groups on each: patterns over 120 columns, other ones with each
/// seed. `groups` weighs the groups' patterns against the sides'.
Rows at_two_scales(double groups, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto pattern = [&] {
    std::vector<double> values(120);
    for (double& value : values) value = normal(random);
    return values;
  };
  const std::vector<double> side = pattern();
  Rows of_group;
  for (int g = 0; g < 8; ++g) of_group.push_back(pattern());
  Rows rows;
  for (int i = 0; i < 48; ++i) {
    std::vector<double>& row = rows.emplace_back(side);
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] =
          (i % 8 < 4 ? 1 : -1) * side[c] + groups * of_group[i % 8][c] + noise * normal(random);
    }
  }
  return double_centred(rows);
}

Labels modulo(int groups) {
  Labels labels;
  for (int i = 0; i < 48; ++i) labels.push_back(groups == 2 ? i % 8 / 4 : i % groups);
  return labels;
}

}  // namespace

TEST_CASE("where one number of groups fits best it is chosen", "[results][clustering]") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const ChosenGrouping eight = parsimonious_clusters(at_two_scales(2, 0.3, seed), 2, 24);
    CHECK(eight.grouping.groups == 8);
    CHECK(eight.widest == 8);
    CHECK(eight.grouping.labels == modulo(8));
    CHECK(eight.grouping.silhouette == eight.widest_silhouette);
    const ChosenGrouping two = parsimonious_clusters(at_two_scales(0.1, 0.3, seed), 2, 24);
    CHECK(two.grouping.groups == 2);
    CHECK(two.grouping.labels == modulo(2));
  }
}

TEST_CASE("where two numbers of groups fit alike the smaller is chosen every time",
          "[results][clustering]") {
  std::set<int> widest;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const ChosenGrouping chosen = parsimonious_clusters(at_two_scales(0.4, 0.1, seed), 2, 24);
    CHECK(chosen.grouping.groups == 2);
    CHECK(chosen.grouping.labels == modulo(2));
    CHECK(chosen.grouping.silhouette <= chosen.widest_silhouette);
    widest.insert(chosen.widest);
  }
  // The widest silhouette alone would have gone to and fro.
  CHECK(widest == std::set{2, 8});
}

TEST_CASE("a choice among groupings refuses what a grouping refuses", "[results][clustering]") {
  CHECK_THROWS_AS(parsimonious_clusters({{1, 2}, {2, 1}}, 3, 4), std::invalid_argument);
  CHECK_THROWS_AS(parsimonious_clusters({{1, 2}, {1}}, 1, 2), std::invalid_argument);
  CHECK_THROWS_AS(parsimonious_clusters({{1, std::nan("")}, {1, 2}}, 1, 2), std::invalid_argument);
  // Constant rows are as far from all others, and one column leaves nothing to choose by.
  CHECK(parsimonious_clusters({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}, 2, 2).grouping.groups == 2);
  CHECK(parsimonious_clusters({{1}, {2}, {3}}, 1, 3).grouping.groups == 1);
}
