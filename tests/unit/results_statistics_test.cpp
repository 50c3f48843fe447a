#include "results/statistics.h"
#include "tests/testing.h"

using namespace fathom;

TEST_CASE("Median and quantiles of samples known by hand", "[results]") {
  CHECK(median(std::vector{3.0, 1.0, 2.0}) == 2);
  CHECK(median(std::vector{4.0, 1.0, 2.0, 3.0}) == 2.5);
  // Neither end of the doubles overflows on the way to the middle.
  CHECK(median(std::vector{1.7e308, 1.7e308}) == 1.7e308);
  const std::vector five{10.0, 20.0, 30.0, 40.0, 50.0};
  CHECK(quantile(five, 0) == 10);
  CHECK(quantile(five, 1) == 50);
  CHECK(quantile(five, 0.1) == Approx(14));
}

TEST_CASE("The interquartile mean is of the middle half", "[results]") {
  CHECK(interquartile_mean(std::vector{1.0, 2.0, 4.0}) == Approx(7.0 / 3));
  CHECK(interquartile_mean(std::vector{900.0, 10.0, 11.0, 1.0}) == 10.5);
  CHECK(interquartile_mean(std::vector{1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 99.0}) == 2.5);
}

TEST_CASE("Statistics refuse what is no sample", "[results]") {
  const auto refused = [](auto statistic) { CHECK_THROWS_AS(statistic(), std::invalid_argument); };
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::vector one{1.0};
  using Samples = std::vector<double>;
  for (const Samples& bad : {Samples{}, {1, nan, 3}, {1, infinity, 3}, {1, -infinity, 3}}) {
    refused([&] { median(bad); });
    refused([&] { quantile(bad, 0.5); });
    refused([&] { interquartile_mean(bad); });
    refused([&] { median_interval(bad); });
    refused([&] { robust_spread(bad); });
    refused([&] { paired_ratio(bad, std::vector(bad.size(), 1.0), Better::higher); });
  }
  refused([&] { quantile(one, nan); });
  refused([&] { quantile(one, 1.5); });
  refused([&] { relative_half_width({1, 2, 0.95, ""}, 0); });
  refused([&] { paired_ratio(std::vector{1.0, 2.0}, one, Better::higher); });
  refused([&] { paired_ratio(one, std::vector{0.0}, Better::higher); });
}

TEST_CASE("The median's interval takes the tabulated order statistics", "[results]") {
  // Ranks k and n - k + 1 of the 95 % interval, as printed in tables of the sign test's interval;
  // too few samples give their range and the confidence that it has.
  for (const auto& [n, k, coverage] : {std::tuple{1u, 1u, 0.0},
                                       {5u, 1u, 0.9375},
                                       {6u, 1u, 0.96875},
                                       {10u, 2u, 0.978515625},
                                       {20u, 6u, 0.9586},
                                       {30u, 10u, 0.9572},
                                       {100u, 40u, 0.9648}}) {
    std::vector<double> samples(n);
    for (std::size_t i = 0; i < n; ++i) samples[i] = static_cast<double>(n - i);
    const Interval interval = median_interval(samples);
    CAPTURE(n);
    CHECK(interval.low == k);
    CHECK(interval.high == n - k + 1);
    CHECK(interval.confidence == Approx(coverage).margin(5e-5));
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
