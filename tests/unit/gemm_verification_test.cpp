// What is said of a product by how far it is from its reference.

#include "gemm/bench/verification.h"
#include "tests/testing.h"

using namespace fathom::gemm;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

const Problem product = make_problem(Class::fp32, 100, 50, 64);

/// Off by a tenth of what its tolerance allows the whole.
Deviation near() {
  const double off = tolerance(product).relative_frobenius / 10;
  return {off * off * 320'000, 320'000, 2'000'000, 0.2, 0, 0, 0};
}

std::optional<std::string> judged(const Deviation& deviation) {
  Accuracy accuracy;
  return judge(product, tolerance(product), deviation, accuracy);
}

}  // namespace

TEST_CASE("a product near its reference is right, and says how near", "[gemm]") {
  Accuracy accuracy;
  CHECK_FALSE(judge(product, tolerance(product), near(), accuracy).has_value());
  CHECK(std::abs(accuracy.relative_frobenius / tolerance(product).relative_frobenius - 0.1) < 1e-9);
  CHECK(accuracy.worst == 0.2);
  CHECK_FALSE(judged({0, 0, 0, 0, 0, 0, 0}).has_value());  // of no elements, or all zero
}

TEST_CASE("what is no number, or anything else that is off, is never right", "[gemm]") {
  for (double Deviation::*sum : {&Deviation::error_squares, &Deviation::value_squares}) {
    Deviation deviation = near();
    deviation.*sum = not_a_number;
    CHECK(judged(deviation).has_value());
  }
  Deviation deviation = near();
  deviation.error_squares = infinity;
  CHECK(judged(deviation).has_value());
  deviation.value_squares = infinity;
  CHECK(judged(deviation).has_value());
  for (unsigned long long Deviation::*count :
       {&Deviation::outside, &Deviation::not_finite, &Deviation::gap_written}) {
    deviation = near();
    deviation.*count = 1;
    CHECK(judged(deviation).has_value());
  }
  deviation = near();
  deviation.error_squares *= 121;
  CHECK(judged(deviation).has_value());
  // Where the reference is zero everywhere, any error is too much.
  CHECK(judged({1e-6, 0, 0, 0, 0, 0, 0}).has_value());
}

TEST_CASE(
    "large products are compared in a regular sample of columns that meets every place in a tile",
    "[gemm]") {
  CHECK(reference_column_step(make_problem(Class::fp32, 8192, 8192, 8192)) == 1);
  const int step = reference_column_step(make_problem(Class::fp32, 16384, 16384, 16384));
  CHECK(step > 1);
  CHECK(step % 2 == 1);
  CHECK(16384 / step >= 256);  // more columns than the widest tile has
}
