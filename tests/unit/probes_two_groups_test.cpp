#include "probes/two_groups.h"
#include "tests/testing.h"

using namespace fathom;

TEST_CASE("two groups are told from one", "[results]") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<double> two, one, flat;
  for (int i = 0; i < 5000; ++i) {
    two.push_back((i % 4 == 0 ? 270 : 210) + 8 * normal(random));
    one.push_back(240 + 30 * normal(random));
    flat.push_back(200 + 80 * uniform(random));
  }
  two.push_back(9000);  // a refresh is no group
  const TwoGroups groups = two_groups(two);
  CHECK(groups.separation > bimodal_separation);
  CHECK_THAT(groups.low, WithinAbs(210, 1));
  CHECK_THAT(groups.high, WithinAbs(270, 1));
  CHECK_THAT(groups.high_share, WithinAbs(0.25, 0.02));
  CHECK(two_groups(one).separation < bimodal_separation);
  CHECK(two_groups(flat).separation < bimodal_separation);
  const TwoGroups alike = two_groups(std::vector<double>(100, 33.0));
  CHECK(alike.separation == 0);
  CHECK(alike.low == 33.0);
  CHECK_THROWS_AS(two_groups({}), std::invalid_argument);
}
