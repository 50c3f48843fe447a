#include "gate/ranks.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

/// The test's definition, slowly: every choice of which pooled values are the head's.
double enumerated_p(const std::vector<double>& base, const std::vector<double>& head) {
  std::vector<double> pooled(base);
  pooled.insert(pooled.end(), head.begin(), head.end());
  const auto mid_rank = [&](double value) {
    double below = 0, equal = 0;
    for (const double other : pooled) {
      below += other < value;
      equal += other == value;
    }
    return below + (equal + 1) / 2;
  };
  double observed = 0;
  for (const double value : head) observed += mid_rank(value);
  std::vector<int> chosen(base.size(), 0);
  chosen.insert(chosen.end(), head.size(), 1);
  std::size_t all = 0, extreme = 0;
  do {
    double sum = 0;
    for (std::size_t i = 0; i < pooled.size(); ++i)
      if (chosen[i]) sum += mid_rank(pooled[i]);
    ++all;
    extreme += sum >= observed - 1e-9;
  } while (std::next_permutation(chosen.begin(), chosen.end()));
  return static_cast<double>(extreme) / static_cast<double>(all);
}

}  // namespace

TEST_CASE("The rank test is exact, with and without ties", "[gate]") {
  std::mt19937 generator(7);
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<double> base(1 + generator() % 5), head(1 + generator() % 5);
    const unsigned values = trial % 2 == 0 ? 4 : 100'000;  // many ties, or hardly any
    for (double& value : base) value = generator() % values;
    for (double& value : head) value = generator() % values;
    CHECK(rank_test_greater(base, head) == Approx(enumerated_p(base, head)).epsilon(1e-12));
  }
  const std::vector<double> low{1, 2, 3, 4, 5, 6, 7, 8}, high{11, 12, 13, 14, 15, 16, 17, 18};
  CHECK(rank_test_greater(low, high) == Approx(1.0 / 12870));  // 16 over 8
  CHECK(rank_test_greater(high, low) == Approx(1));
  CHECK(smallest_rank_p(8, 8) == Approx(1.0 / 12870));
  CHECK(smallest_rank_p(30, 1) == Approx(1.0 / 31));
}

TEST_CASE("Hodges and Lehmann's estimate and its interval", "[gate]") {
  const std::vector<double> base{1, 2, 3}, head{2, 4, 9};
  // Differences: 1 3 8, 0 2 7, -1 1 6: sorted -1 0 1 1 2 3 6 7 8.
  CHECK(shift_of(base, head).estimate == 2);
  const Shift shift = shift_of(base, head);
  CHECK(shift.interval.low == -1);  // three and three cannot reach 95 %
  CHECK(shift.interval.high == 8);
  CHECK(shift.interval.confidence == Approx(0.9));  // 1 - 2 / 20
  // For 8 and 8 runs the tables give the 14th of 64 differences for 95 %.
  std::vector<double> eight(8), other(8);
  std::iota(eight.begin(), eight.end(), 0);
  for (std::size_t i = 0; i < 8; ++i) other[i] = 0.01 * static_cast<double>(i * i);
  const Shift wide = shift_of(eight, other);
  CHECK(wide.interval.method == "Hodges-Lehmann, differences 14 and 51 of 64");
  CHECK(wide.interval.confidence >= 0.95);
  // One result against 120 runs: each of its 121 ranks is as likely.
  std::vector<double> many(120);
  std::iota(many.begin(), many.end(), 0);
  CHECK(shift_of(many, std::vector{0.0}).interval.method ==
        "Hodges-Lehmann, differences 3 and 118 of 120");
}

TEST_CASE("Holm's procedure", "[gate]") {
  CHECK(holm_adjusted(std::vector{0.01, 0.04, 0.03}) == std::vector{0.03, 0.06, 0.06});
  CHECK(holm_adjusted(std::vector{0.5, 0.9}) == std::vector{1.0, 1.0});
  CHECK(holm_adjusted(std::vector<double>{}).empty());
}
