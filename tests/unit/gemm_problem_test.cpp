// A product, what its elements may be off by, what is said of one by its distance from its
// reference, and where C would not hold it.

#include <numbers>

#include "gemm/bench/cases.h"
#include "gemm/bench/problem.h"
#include "gemm/bench/shapes.h"
#include "gemm/bench/tolerance.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("a product's sizes, work, traffic and words", "[gemm]") {
  const Problem p = make_problem(Class::fp32, 3, 5, 7);
  CHECK(p.flops() == 2 * 3 * 5 * 7);
  CHECK(p.minimum_bytes() == 4 * (3 * 7 + 7 * 5 + 3 * 5));
  CHECK((p.lda == 3 && p.ldb == 7 && p.ldc == 3));
  Problem scaled = p;
  scaled.beta = 2;
  CHECK(scaled.minimum_bytes() == 4 * (3 * 7 + 7 * 5 + 2 * 3 * 5));
  scaled.alpha = 0;
  CHECK(scaled.minimum_bytes() == 4 * 2 * 3 * 5);
  const Problem transposed = make_problem(Class::fp8, 3, 5, 7, Transpose::yes, Transpose::yes);
  CHECK((transposed.lda == 7 && transposed.ldb == 5));
  CHECK(transposed.minimum_bytes() == (3 * 7 + 7 * 5) + 2 * 3 * 5);
  Problem gaps = p;
  gaps.lda = 10;
  gaps.ldc = 8;
  CHECK(gaps.a_elements() == 10 * 6 + 3);
  CHECK(gaps.c_elements() == 8 * 5);
  // An empty one is valid, and has leading dimensions of one.
  const Problem empty = make_problem(Class::bf16, 0, 0, 0);
  CHECK((empty.lda == 1 && empty.ldb == 1 && empty.ldc == 1));
  CHECK_FALSE(invalid(empty).has_value());
  CHECK((empty.a_elements() == 0 && empty.flops() == 0));
  CHECK(p.describe() == "fp32 NN 3x5x7");
  Problem other = make_problem(Class::fp32_3xtf32, 3, 5, 7, Transpose::yes, Transpose::no, 0.5, 2);
  other.ldc = 9;
  CHECK(other.describe() == "fp32-3xtf32 TN 3x5x7 ldc 9 alpha 0.5 beta 2");
}

TEST_CASE("what is no product is refused with its reason", "[gemm]") {
  const Problem whole = make_problem(Class::int8, 4, 4, 4),
                half = make_problem(Class::fp16, 4, 4, 4, Transpose::no, Transpose::no, 0.5, 0);
  CHECK_FALSE(invalid(whole).has_value());
  CHECK_FALSE(invalid(half).has_value());
  const auto refused = [](const char* why, Problem p, auto change) {
    change(p);
    CHECK_THAT(invalid(p).value_or("accepted"), contains(why));
  };
  refused("lda", whole, [](Problem& p) { p.lda = 3; });
  refused("ldc", whole, [](Problem& p) { p.ldc = 3; });
  refused("alpha is 0.5: integer products take whole numbers", whole,
          [](Problem& p) { p.alpha = 0.5; });
  refused("alpha is 3000000000: integer products take 2^30 at most", whole,
          [](Problem& p) { p.alpha = 3e9; });
  refused("accepted", whole, [](Problem& p) { p.alpha = -0x1p30; });
  refused("beta", half, [](Problem& p) { p.beta = 1e39; });  // fp32 has no such number
  refused("accepted", make_problem(Class::fp64, 4, 4, 4), [](Problem& p) { p.beta = 1e39; });
  // Stored as 6 x 4.
  refused("lda", make_problem(Class::fp64, 4, 5, 6, Transpose::yes, Transpose::no),
          [](Problem& p) { p.lda = 5; });
}

TEST_CASE("a tolerance grows with the root of k and is far below what one wrong step costs",
          "[gemm]") {
  const auto at = [](Class of, std::int64_t k) { return tolerance(make_problem(of, 64, 64, k)); };
  CHECK(at(Class::fp32, 4096).per_magnitude == Approx((8 * 64 + 4) * 0x1p-24));
  CHECK(at(Class::fp32, 16384).per_magnitude / at(Class::fp32, 4096).per_magnitude ==
        Approx(2).epsilon(0.01));
  CHECK(at(Class::fp32, 0).per_magnitude > 0);  // beta C still rounds
  // Leaving out one of k steps changes a random product by 1 / sqrt(k) of its norm.
  const auto one_step = [](std::int64_t k) { return 1 / std::sqrt(static_cast<double>(k)); };
  for (const std::int64_t k : {16, 4096, 16384})
    for (const ClassTraits& row : all_classes())
      if (row.of != Class::fp8 || k < 16384)
        CHECK(at(row.of, k).relative_frobenius < 0.7 * one_step(k));
  CHECK(at(Class::fp8, 8192).relative_frobenius < one_step(8192));
  // The limit that docs/gemm.md states. Promoted sums have none there.
  CHECK(at(Class::fp8, 16384).relative_frobenius > one_step(16384));
  CHECK(tolerance(make_problem(Class::fp8, 64, 64, 16384), true).relative_frobenius <
        one_step(16384));
  // What an H200's fast sums were off by: right kernels have room.
  for (const auto& [k, measured] :
       {std::pair{1024, 1.70e-3}, {4096, 2.13e-3}, {8192, 2.64e-3}, {16384, 3.54e-3}})
    CHECK(at(Class::fp8, k).relative_frobenius > 3 * measured);
  // And its elements, as recorded when each of k counted as a rounding: the worst of what was
  // allowed.
  for (const auto& [k, worst] :
       {std::pair{256, 0.0799}, {1024, 0.0280}, {8192, 0.0104}, {16384, 0.0072}})
    CHECK(at(Class::fp8, k).per_magnitude > 2 * worst * (8 * std::sqrt(k) + 4) * 0x1p-13);
  CHECK(at(Class::int8, 4096).per_magnitude == 0);
  CHECK(at(Class::int8, 4096).relative_frobenius == 0);
  for (const Class coarser : {Class::fp16, Class::tf32})
    CHECK(at(Class::fp32, 4096).relative_frobenius < at(coarser, 4096).relative_frobenius);
  // Promoted sums of fp8 are held to what 128 of k cost.
  const Problem deep = make_problem(Class::fp8, 64, 64, 8192);
  CHECK(tolerance(deep, true).relative_frobenius < 0.6 * tolerance(deep).relative_frobenius);
  CHECK(tolerance(deep, true).per_magnitude ==
        tolerance(make_problem(Class::fp8, 64, 64, 128)).per_magnitude);
  CHECK(tolerance(make_problem(Class::fp8, 64, 64, 64), true).per_magnitude ==
        tolerance(make_problem(Class::fp8, 64, 64, 64)).per_magnitude);
  // Three products of tf32 are held to what fp32 is.
  CHECK(at(Class::fp32_3xtf32, 4096).relative_frobenius <
        1.1 * at(Class::fp32, 4096).relative_frobenius);
}

TEST_CASE("an element that has nothing to do with the right one is off by more than allowed",
          "[gemm]") {
  // For random normal data an element's standard deviation is sqrt(k), and its magnitude 2 / pi of
  // k.
  const auto of_a_deviation = [](Class of, std::int64_t k, bool promoted = false) {
    const Tolerance allowed = tolerance(make_problem(of, 64, 64, k), promoted);
    return allowed.per_magnitude * 2 / std::numbers::pi * std::sqrt(static_cast<double>(k));
  };
  for (const std::int64_t k : {128, 4096, 8192}) {
    CAPTURE(k);
    for (const Class of : {Class::fp32, Class::fp32_3xtf32, Class::fp64, Class::fp16, Class::bf16})
      CHECK(of_a_deviation(of, k) < 0.01);
    CHECK(of_a_deviation(Class::tf32, k) < 0.2);
    CHECK(of_a_deviation(Class::fp8, k, true) < 0.2);
  }
  CHECK(of_a_deviation(Class::fp8, 4096) < 0.5);
  CHECK(of_a_deviation(Class::fp8, 8192) < 1);
}

TEST_CASE("a product near its reference is right, and says how near; any other is not", "[gemm]") {
  const Problem product = make_problem(Class::fp32, 100, 50, 64);
  const Tolerance allowed = tolerance(product);
  const double off = allowed.relative_frobenius / 10;
  const Deviation near{off * off * 320'000, 320'000, 2'000'000, 0.2, 0, 0, 0};
  Accuracy accuracy;
  CHECK_FALSE(judge(product, allowed, near, accuracy).has_value());
  CHECK(std::abs(accuracy.relative_frobenius / allowed.relative_frobenius - 0.1) < 1e-9);
  CHECK(accuracy.worst == 0.2);
  CHECK_FALSE(judge(product, allowed, {0, 0, 0, 0, 0, 0, 0}, accuracy).has_value());
  const auto is_wrong = [&](auto member, auto value, double values = 320'000) {
    Deviation deviation = near;
    deviation.value_squares = values;
    deviation.*member = value;
    CHECK(judge(product, allowed, deviation, accuracy).has_value());
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double squares : {std::nan(""), infinity, 121 * near.error_squares})
    is_wrong(&Deviation::error_squares, squares);
  is_wrong(&Deviation::error_squares, infinity, infinity);
  is_wrong(&Deviation::value_squares, std::nan(""));
  // Where the reference is zero everywhere, any error is too much.
  CHECK(judge(product, allowed, {1e-6, 0, 0, 0, 0, 0, 0}, accuracy).has_value());
  for (const auto count : {&Deviation::outside, &Deviation::not_finite, &Deviation::gap_written})
    is_wrong(count, 1);
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
  std::string all;
  for (const OptionValues& values :
       std::vector<OptionValues>{{{"type", "fp16"}, {"alpha", 1000.0}},
                                 {{"type", "int8"}, {"alpha", 4000.0}},
                                 {{"type", "fp16"}, {"alpha", 0.0}, {"beta", -9000.0}},
                                 {{"type", "fp16"}, {"alpha", 100.0}, {"beta", 9000.0}},
                                 {{"type", "fp64"}, {"alpha", 1e150}},
                                 {{"alpha", 1000.0}},
                                 // Where even the bound has no number.
                                 {{"type", "fp64"}, {"alpha", 1e308}},
                                 {{"type", "fp64"}, {"alpha", 0.0}, {"beta", 1.7e308}},
                                 {{"type", "fp64"}, {"alpha", 1e308}, {"beta", 1.0}}}) {
    const Refusal refused = refusal_of([&] { read_request(values); });
    all += fmt::format("{}: {}\n", to_int(refused.code), refused.text);
  }
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/scalars.txt", all);
  CHECK_NOTHROW(read_request({{"type", "fp16"}, {"alpha", 120.0}}));
  CHECK_NOTHROW(read_request({{"type", "int8"}, {"alpha", 3855.0}}));
}
