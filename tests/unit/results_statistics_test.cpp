#include "results/statistics.h"
#include "tests/testing.h"

using namespace fathom;

namespace {
const double nan_value = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("Median and quantiles of samples known by hand", "[results]") {
  CHECK(median(std::vector{3.0, 1.0, 2.0}) == 2);
  CHECK(median(std::vector{4.0, 1.0, 2.0, 3.0}) == 2.5);
  CHECK(median(std::vector{7.0}) == 7);
  // Neither end of the doubles overflows on the way to the middle.
  CHECK(median(std::vector{1.7e308, 1.7e308}) == 1.7e308);
  const std::vector five{10.0, 20.0, 30.0, 40.0, 50.0};
  CHECK(quantile(five, 0) == 10);
  CHECK(quantile(five, 1) == 50);
  CHECK(quantile(five, 0.25) == 20);
  CHECK(quantile(five, 0.1) == Approx(14));
}

TEST_CASE("The interquartile mean is of the middle half", "[results]") {
  CHECK(interquartile_mean(std::vector{1.0, 2.0, 4.0}) == Approx(7.0 / 3));
  CHECK(interquartile_mean(std::vector{900.0, 10.0, 11.0, 1.0}) == 10.5);
  CHECK(interquartile_mean(std::vector{5.0, 1.0, 2.0, 3.0, 4.0}) == 3);
  CHECK(interquartile_mean(std::vector{1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 99.0}) == 2.5);
  CHECK_THROWS_AS(interquartile_mean(std::vector<double>{}), std::invalid_argument);
  CHECK_THROWS_AS(interquartile_mean(std::vector{1.0, nan_value}), std::invalid_argument);
}

TEST_CASE("Statistics refuse what is no sample", "[results]") {
  const std::vector<double> none;
  for (const double bad : {nan_value, infinity, -infinity}) {
    const std::vector samples{1.0, bad, 3.0};
    CHECK_THROWS_AS(median(samples), std::invalid_argument);
    CHECK_THROWS_AS(quantile(samples, 0.5), std::invalid_argument);
    CHECK_THROWS_AS(median_interval(samples), std::invalid_argument);
    CHECK_THROWS_AS(robust_spread(samples), std::invalid_argument);
    CHECK_THROWS_AS(paired_ratio(samples, std::vector{1.0, 1.0, 1.0}, Better::higher),
                    std::invalid_argument);
  }
  CHECK_THROWS_AS(median(none), std::invalid_argument);
  CHECK_THROWS_AS(median_interval(none), std::invalid_argument);
  CHECK_THROWS_AS(quantile(std::vector{1.0}, nan_value), std::invalid_argument);
  CHECK_THROWS_AS(quantile(std::vector{1.0}, 1.5), std::invalid_argument);
  CHECK_THROWS_AS(median_interval(std::vector{1.0}, 1.0), std::invalid_argument);
  CHECK_THROWS_AS(relative_half_width({1, 2, 0.95, ""}, 0), std::invalid_argument);
  CHECK_THROWS_AS(paired_ratio(std::vector{1.0, 2.0}, std::vector{1.0}, Better::higher),
                  std::invalid_argument);
  CHECK_THROWS_AS(paired_ratio(std::vector{1.0}, std::vector{0.0}, Better::higher),
                  std::invalid_argument);
}

TEST_CASE("The median's interval takes the tabulated order statistics", "[results]") {
  // Ranks k and n - k + 1 of the 95 % interval, as printed in tables of the sign test's interval.
  struct Row {
    std::size_t n, k;
    double coverage;
  };
  for (const Row& row : {Row{6, 1, 0.96875}, Row{10, 2, 0.978515625}, Row{20, 6, 0.9586},
                         Row{30, 10, 0.9572}, Row{100, 40, 0.9648}}) {
    std::vector<double> samples(row.n);
    for (std::size_t i = 0; i < row.n; ++i) samples[i] = static_cast<double>(row.n - i);
    const Interval interval = median_interval(samples, 0.95);
    CAPTURE(row.n);
    CHECK(interval.low == static_cast<double>(row.k));
    CHECK(interval.high == static_cast<double>(row.n - row.k + 1));
    CHECK(interval.confidence == Approx(row.coverage).margin(5e-5));
  }
}

TEST_CASE("Too few samples give their range and the confidence that it has", "[results]") {
  const Interval five = median_interval(std::vector{5.0, 1.0, 4.0, 2.0, 3.0}, 0.95);
  CHECK(five.low == 1);
  CHECK(five.high == 5);
  CHECK(five.confidence == Approx(0.9375));
  const Interval one = median_interval(std::vector{5.0}, 0.95);
  CHECK(one.low == 5);
  CHECK(one.high == 5);
  CHECK(one.confidence == 0);
}

TEST_CASE("The median's interval covers the median as often as it says", "[results]") {
  // Skewed (exponential) samples: an interval that assumed a normal distribution would fail here.
  std::mt19937_64 random(20260131);
  std::exponential_distribution<double> exponential(1);
  const double true_median = std::log(2.0);
  for (const std::size_t n : {7, 24, 101}) {
    constexpr int trials = 4000;
    int covered = 0;
    double stated = 0;
    std::vector<double> samples(n);
    for (int trial = 0; trial < trials; ++trial) {
      std::generate(samples.begin(), samples.end(), [&] { return exponential(random); });
      const Interval interval = median_interval(samples, 0.95);
      stated = interval.confidence;
      covered += interval.low <= true_median && true_median <= interval.high;
    }
    const double rate = static_cast<double>(covered) / trials;
    const double standard_error = std::sqrt(stated * (1 - stated) / trials);
    CAPTURE(n, rate, stated);
    CHECK(stated >= 0.95);
    CHECK(std::abs(rate - stated) < 4 * standard_error);
  }
}

TEST_CASE("Intervals do not depend on order or unit, and hold the median", "[results]") {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> lognormal(0, 0.2);
  std::uniform_int_distribution<int> count(1, 200);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> samples(static_cast<std::size_t>(count(random)));
    std::generate(samples.begin(), samples.end(), [&] { return lognormal(random); });
    const Interval interval = median_interval(samples);
    const double middle = median(samples);
    CHECK(interval.low <= middle);
    CHECK(middle <= interval.high);
    CHECK(quantile(samples, 0.5) == Approx(middle));
    std::vector<double> scaled = samples;
    for (double& sample : scaled) sample *= 1024;
    std::shuffle(scaled.begin(), scaled.end(), random);
    CHECK(median(scaled) == 1024 * middle);
    CHECK(median_interval(scaled).low == 1024 * interval.low);
    CHECK(robust_spread(scaled) == Approx(1024 * robust_spread(samples)));
  }
}

TEST_CASE("A paired ratio cancels what disturbs both sides", "[results]") {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0, 0.0005);
  std::vector<double> own, opponent;
  for (int i = 0; i < 60; ++i) {
    const double drift = 1 - 0.2 * i / 60.0;  // the clock falls by a fifth
    own.push_back(103 * drift * (1 + noise(random)));
    opponent.push_back(100 * drift * (1 + noise(random)));
  }
  const PairedRatio bandwidth = paired_ratio(own, opponent, Better::higher);
  CHECK(bandwidth.median == Approx(1.03).epsilon(0.001));
  CHECK(bandwidth.interval.low > 1.029);
  CHECK(bandwidth.interval.high < 1.031);
  // As times, the same samples say the opposite.
  const PairedRatio time = paired_ratio(own, opponent, Better::lower);
  CHECK(time.median == Approx(1 / 1.03).epsilon(0.001));
  CHECK(paired_ratio(own, own, Better::higher).median == 1);
}

TEST_CASE("The robust spread estimates a standard deviation through outliers", "[results]") {
  std::mt19937_64 random(13);
  std::normal_distribution<double> normal(50, 2);
  std::vector<double> samples(20001);
  std::generate(samples.begin(), samples.end(), [&] { return normal(random); });
  CHECK(robust_spread(samples) == Approx(2).epsilon(0.03));
  for (std::size_t i = 0; i < 500; ++i) samples[i] = 1e9;
  CHECK(robust_spread(samples) == Approx(2).epsilon(0.06));
}
