// Where C would not hold its product.

#include "gemm/bench/request.h"
#include "gemm/bench/shapes.h"
#include "gemm/bench/tolerance.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

Problem scaled(Class of, std::int64_t k, double alpha, double beta) {
  return make_problem(of, 4096, 4096, k, Transpose::no, Transpose::no, alpha, beta);
}

}  // namespace

TEST_CASE("alpha and beta may be as large as C's type allows, and no larger", "[gemm]") {
  struct Limit {
    Class of;
    double alpha, beta;  // alone, at k = 4096: 8 sqrt(4096) + 32 is 544
  };
  for (const auto& [of, alpha, beta] :
       {Limit{Class::fp32, 3.4028e38 / 544, 3.4028e38 / 8},
        {Class::fp32_3xtf32, 3.4028e38 / 544, 3.4028e38 / 8},
        {Class::bf16, 3.3895e38 / 544, 3.3895e38 / 8},
        {Class::fp8, 3.3895e38 / 544, 3.3895e38 / 8},
        {Class::fp16, 65504.0 / 544, 65504.0 / 8},
        {Class::fp64, 3.1217e144 / 544, 3.1217e144 / 8},
        {Class::int8, 2147483647.0 / (32 * 32 * 544), 2147483647.0 / 8000}}) {
    CAPTURE(traits(of).name);
    for (const double sign : {1, -1}) {
      CHECK_FALSE(overflows(scaled(of, 4096, sign * 0.999 * alpha, 0)).has_value());
      CHECK(overflows(scaled(of, 4096, sign * 1.001 * alpha, 0)).has_value());
      CHECK_FALSE(overflows(scaled(of, 0, alpha, sign * 0.999 * beta)).has_value());
      CHECK(overflows(scaled(of, 0, alpha, sign * 1.001 * beta)).has_value());
    }
    CHECK(overflows(scaled(of, 4096, 0.9 * alpha, 0.9 * beta)).has_value());
    CHECK_FALSE(overflows(scaled(of, 4096, 0.7 * alpha, 0.1 * beta)).has_value());
    CHECK_FALSE(overflows(scaled(of, 0, 1e9 * alpha, 0)).has_value());  // A and B are not read
  }
  // No scalar is needed where k alone is too large.
  CHECK_FALSE(overflows(scaled(Class::fp16, 1 << 25, 1, 0)).has_value());
  CHECK(overflows(scaled(Class::fp16, largest_size, 1, 0)).has_value());
  CHECK_FALSE(overflows(scaled(Class::int8, largest_size, 1, 0)).has_value());
  for (const ClassTraits& row : all_classes()) {
    for (const Shape& shape : contested_shapes)
      CHECK_FALSE(overflows(contested_problem(row.of, shape)).has_value());
  }
}

TEST_CASE("no element of a random product is beyond what is expected of it, and some come near",
          "[gemm]") {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  const auto as = [&](Class of) {
    const double x = normal(generator);
    return of == Class::int8 ? std::clamp(std::rint(32 * x), -127.0, 127.0) : x;
  };
  for (const Class of : {Class::fp32, Class::int8}) {
    for (const int k : {1, 4, 64}) {
      double most = 0;
      for (int element = 0; element < 4'000'000 / k; ++element) {
        double sum = 0;
        for (int i = 0; i < k; ++i) sum += as(of) * as(of);
        most = std::max(most, std::abs(sum));
      }
      CAPTURE(traits(of).name, k);
      CHECK(most < largest_of_product(scaled(of, k, 1, 0)));
      CHECK(most > 0.25 * largest_of_product(scaled(of, k, 1, 0)));
    }
  }
}

TEST_CASE("scalars that C cannot hold are refused with the largest that it can", "[gemm]") {
  const std::pair<OptionValues, const char*> rows[] = {
      {{{"type", "fp16"}, {"alpha", 1000.0}},
       "alpha is 1000 and beta 0: with k = 4096, an element of C may reach 5.44e+05, and the "
       "largest that C of fp16 holds is 65504: take alpha up to 120."},
      {{{"type", "int8"}, {"alpha", 4000.0}}, "holds is 2147483647: take alpha up to 3855."},
      {{{"type", "fp16"}, {"alpha", 0.0}, {"beta", -9000.0}}, "take beta up to 8180."},
      {{{"type", "fp16"}, {"alpha", 100.0}, {"beta", 9000.0}}, "take both smaller, by a factor of"},
      {{{"type", "fp64"}, {"alpha", 1e150}}, "the largest that can be checked is 3.12"},
      {{{"alpha", 1000.0}}, "120; --type or --rung choose others."},
      // Where even the bound has no number.
      {{{"type", "fp64"}, {"alpha", 1e308}},
       "may reach more than fp64 holds, and the largest that can be checked is 3.12175e+144: take "
       "alpha up to 5.73e+141."},
      {{{"type", "fp64"}, {"alpha", 0.0}, {"beta", 1.7e308}}, "take beta up to 3.9e+143."},
      {{{"type", "fp64"}, {"alpha", 1e308}, {"beta", 1.0}},
       "take both smaller, by a factor of 1.76e+166."}};
  for (const auto& [values, said] : rows) {
    const Refusal refused = refusal_of([&] { read_request(values); });
    CHECK(refused.code == ExitCode::bad_input);
    CHECK_THAT(refused.text, contains(said));
  }
  CHECK_NOTHROW(read_request({{"type", "fp16"}, {"alpha", 120.0}}));
  CHECK_NOTHROW(read_request({{"type", "int8"}, {"alpha", 3855.0}}));
}
