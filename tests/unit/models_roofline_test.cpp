#include "models/roofline.h"
#include "tests/testing.h"

using namespace fathom::models;

const MemoryCeiling dram{"DRAM", 4e12, "made up"};
const MemoryCeiling l2{"L2", 8e12, "made up"};
const ComputeCeiling bf16{"bf16", 1000e12, "made up"};

// A kernel that DRAM bounds is held against tests/golden/sessions/predictions.txt.
TEST_CASE("At the ridge arithmetic binds, and of several levels the slowest", "[models]") {
  const Roofline at = roofline({dram}, bf16, {.flops = 250e9, .traffic = {{"DRAM", 1e9}}});
  CHECK(at.bound_by == "bf16");
  CHECK(at.seconds == 0.25e-3);
  CHECK(at.levels.at(0).attainable == bf16.flops_per_second);
  CHECK(roofline({dram}, bf16, {.flops = 1e12}).seconds == 1e-3);
  // One without traffic does not bind, and has no intensity.
  for (const double from_dram : {1e9, 0.0}) {
    const Roofline r =
        roofline({dram, l2}, bf16, {.flops = 1e9, .traffic = {{"DRAM", from_dram}, {"L2", 4e9}}});
    CHECK(r.bound_by == "L2");
    CHECK(r.seconds == 0.5e-3);
    CHECK(r.levels.at(1).ridge == 125);
    CHECK(r.levels.at(0).intensity.has_value() == (from_dram > 0));
  }
}

TEST_CASE("A matrix product reads both operands once and writes its result", "[models]") {
  // The claims' 4092³ product in fp32: 268 MB with C read too.
  const MatrixProduct p{.m = 4092, .n = 4092, .k = 4092, .input_bytes = 4, .output_bytes = 4};
  CHECK(matrix_product_flops(p) == Approx(137.04e9).epsilon(1e-4));
  CHECK(matrix_product_bytes(p) == Approx(268e6 * 3 / 4).epsilon(1e-3));
  CHECK_THROWS_AS(matrix_product_flops({.m = 0, .n = 1, .k = 1}), std::invalid_argument);
}

TEST_CASE("Ceilings and kernels that cannot be are refused", "[models]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const RooflineKernel good{.flops = 1, .traffic = {{"DRAM", 1}}};
  for (const double bad : {0.0, -1.0, nan, infinity}) {
    CHECK_THROWS_AS(roofline({{"DRAM", bad, ""}}, bf16, good), std::invalid_argument);
    CHECK_THROWS_AS(roofline({dram}, {"bf16", bad, ""}, good), std::invalid_argument);
  }
  for (const double bad : {-1.0, nan, infinity}) {
    CHECK_THROWS_AS(roofline({dram}, bf16, {.flops = bad}), std::invalid_argument);
    CHECK_THROWS_AS(roofline({dram}, bf16, {.flops = 1, .traffic = {{"DRAM", bad}}}),
                    std::invalid_argument);
  }
  CHECK_THROWS_AS(roofline({dram}, bf16, {}), std::invalid_argument);
  CHECK_THROWS_MATCHES(roofline({dram}, bf16, {.flops = 1, .traffic = {{"L3", 1}}}),
                       std::invalid_argument, MessageMatches(contains("L3")));
}
