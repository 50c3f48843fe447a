// The fp64 reference of the ladders against sums on the host, and the comparison with it: what must
// not pass. The split of an fp32 number into two of tf32.

#include <bit>

#include "gemm/bench/reference_kernels.h"
#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/tf32_split.cuh"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

template <class T>
std::vector<long double> values_of(const void* data, std::int64_t elements) {
  std::vector<long double> values;
  for (const T& x : test::to_host<T>(data, static_cast<std::size_t>(elements))) {
    if constexpr (std::is_arithmetic_v<T>) {
      values.push_back(x);
    } else {
      values.push_back(static_cast<float>(x));
    }
  }
  return values;
}

struct Expected {
  std::vector<long double> values, magnitudes;  ///< m x n, column-major
};

Expected on_host(const Arguments& arguments) {
  const Problem& p = arguments.problem;
  std::vector<long double> a, b, c;
  with_types(p.of, [&]<class T>(T) {
    a = values_of<typename T::In>(arguments.a, p.a_elements());
    b = values_of<typename T::In>(arguments.b, p.b_elements());
    if (p.beta != 0) c = values_of<typename T::Out>(arguments.c, p.c_elements());
  });
  Expected expected;
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      long double sum = 0, magnitude = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        const long double x = a[p.transa == Transpose::no ? i + l * p.lda : l + i * p.lda];
        const long double y = b[p.transb == Transpose::no ? l + j * p.ldb : j + l * p.ldb];
        sum += x * y;
        magnitude += std::abs(x * y);
      }
      sum *= p.alpha;
      magnitude *= std::abs(p.alpha);
      if (p.beta != 0) {
        sum += p.beta * c[i + j * p.ldc];
        magnitude += std::abs(p.beta * c[i + j * p.ldc]);
      }
      expected.values.push_back(sum);
      expected.magnitudes.push_back(magnitude);
    }
  }
  return expected;
}

/// Runs `spoil` on a C that holds the right answer, and says whether the check passes it.
bool passes(test::RungBench& bench, const Problem& problem,
            const std::function<void(std::vector<float>&)>& spoil) {
  Operands operands(bench.context, bench.memory, problem, "test");
  operands.reset_c();
  auto c = test::to_host<float>(operands.arguments().c, problem.c_elements());
  const Expected right = on_host(operands.arguments());
  for (std::int64_t j = 0; j < problem.n; ++j) {
    for (std::int64_t i = 0; i < problem.m; ++i)
      c[i + j * problem.ldc] = static_cast<float>(right.values[i + j * problem.m]);
  }
  spoil(c);
  bench.put(operands.arguments().c, c);
  return !operands.verify().has_value();
}

}  // namespace

TEST_CASE("the reference of every class is the host's sum", "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  for (const ClassTraits& row : all_classes()) {
    for (const Transpose transa : {Transpose::no, Transpose::yes}) {
      for (const double beta : {0.0, 2.0}) {
        Problem problem = make_problem(row.of, 37, 45, 71, transa, Transpose::yes, -3, beta);
        problem.lda += 2;
        problem.ldc += 1;
        CAPTURE(problem.describe());
        Operands operands(bench.context, bench.memory, problem, "test");
        operands.reset_c();
        CHECK(operands.verify().has_value());  // C as nobody has computed it yet
        for (const int step : {1, 3}) {
          const auto columns = static_cast<std::size_t>((problem.n + step - 1) / step);
          const std::size_t count = columns * static_cast<std::size_t>(problem.m);
          const Buffer values = bench.buffers.output("values", count * sizeof(double));
          const Buffer magnitudes = bench.buffers.output("magnitudes", count * sizeof(double));
          launch_reference_product(operands.arguments(),
                                   {values.as<double>(), magnitudes.as<double>(), step},
                                   bench.stream.get());
          const auto got = bench.read<double>(values), size = bench.read<double>(magnitudes);
          const Expected expected = on_host(operands.arguments());
          // The host's long double sums round as well: 71 additions of 2^-64 each.
          const bool exact = row.of == Class::fp64;
          for (std::size_t s = 0; s < columns; ++s) {
            for (std::int64_t i = 0; i < problem.m; ++i) {
              const auto here = s * problem.m + i, there = s * step * problem.m + i;
              const long double value = expected.values[there],
                                magnitude = expected.magnitudes[there];
              const long double allowed = exact ? 0x1p-52L * std::abs(value) + 0x1p-57L * magnitude
                                                : 75 * 0x1p-53L * magnitude;
              REQUIRE(std::abs(got[here] - value) <= allowed);
              REQUIRE(std::abs(size[here] - expected.magnitudes[there]) <=
                      80 * 0x1p-53 * expected.magnitudes[there]);
            }
          }
        }
      }
    }
  }
  bench.check_guards();
}

TEST_CASE("the check passes the right product and nothing else", "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  Problem problem = make_problem(Class::fp32, 65, 47, 130);
  problem.ldc += 3;
  const std::int64_t last = problem.m - 1 + (problem.n - 1) * problem.ldc;
  using C = std::vector<float>;
  CHECK(passes(bench, problem, [](C&) {}));
  const std::function<void(C&)> spoils[] = {
      [](C& c) { c[0] = std::numeric_limits<float>::quiet_NaN(); },
      [&](C& c) { c[last] = std::numeric_limits<float>::infinity(); },
      [&](C& c) { c[last] += 0.1f; }, [](C& c) { std::swap(c[0], c[1]); },
      [&](C& c) { c[problem.m] = 1; },  // the first gap
      [](C& c) { c.back() = 0; },       // the last gap
      // Off everywhere by more than rounding, nowhere by more than an element's own bound.
      [](C& c) {
        for (float& x : c) x *= 1 + 1e-5f;
      }};
  for (std::size_t i = 0; i < std::size(spoils); ++i) {
    CAPTURE(i);
    CHECK_FALSE(passes(bench, problem, spoils[i]));
  }
  problem.alpha = 0.5;
  problem.beta = -2;
  CHECK(passes(bench, problem, [](C&) {}));
}

TEST_CASE("the reference of fp64 is exact where a plain sum loses everything",
          "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  const Buffer a = bench.filled("a", std::vector{0x1p60, 1.0, -0x1p60}),
               b = bench.filled("b", std::vector{1.0, 1.0, 1.0}),
               value = bench.buffers.output("value", sizeof(double)),
               magnitude = bench.buffers.output("magnitude", sizeof(double));
  launch_reference_product({make_problem(Class::fp64, 1, 1, 3), a.data, b.data, nullptr},
                           {value.as<double>(), magnitude.as<double>(), 1}, bench.stream.get());
  CHECK(bench.read<double>(value)[0] == 1);
  CHECK(bench.read<double>(magnitude)[0] == 0x1p61);  // + 1, rounded
}

// That the planes of an operand are right, every rung of fp32 by tf32 is held to.
TEST_CASE("the nearest tf32 is within half of its last bit", "[gpu][gemm]") {
  const auto bits_of = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  CHECK(nearest_tf32(bits_of(1.0f)) == bits_of(1.0f));
  CHECK(nearest_tf32(bits_of(1 + 0x1p-11f)) == bits_of(1 + 0x1p-10f));  // a tie, away from zero
  CHECK(nearest_tf32(bits_of(1 + 0x1p-11f - 0x1p-23f)) == bits_of(1.0f));
  CHECK(nearest_tf32(bits_of(-1.5f - 0x1.8p-11f)) == bits_of(-1.5f - 0x1p-10f));
  CHECK(nearest_tf32(bits_of(2 - 0x1p-23f)) == bits_of(2.0f));
  CHECK(nearest_tf32(bits_of(-0.0f)) == bits_of(-0.0f));
}
