// Which rungs are asked for, which contend, and what bounds them.

#include "gemm/bench/cases.h"
#include "gemm/bench/request.h"
#include "gemm/bench/rung.h"
#include "gemm/bench/shapes.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("the command line asks for rungs and products", "[gemm]") {
  const Request all = read_request({});
  CHECK(all.wants(*find_rung("fp32/row_major/01_naive")));
  CHECK_FALSE(all.problem.has_value());
  const Request two = read_request(
      {{"rung", std::string("fp32/row_major/01_naive,fp32/row_major/03_shared_memory")}});
  CHECK(two.wants(*find_rung("fp32/row_major/03_shared_memory")));
  CHECK_FALSE(two.wants(*find_rung("fp32/row_major/02_coalesced")));
  CHECK_FALSE(
      read_request({{"type", std::string("fp64")}}).wants(*find_rung("fp32/row_major/01_naive")));
  const Request product = read_request({{"m", std::int64_t{100}},
                                        {"k", std::int64_t{0}},
                                        {"transa", std::string("t")},
                                        {"lda", std::int64_t{7}},
                                        {"alpha", 0.5},
                                        {"type", std::string("fp32")}});
  REQUIRE(product.problem.has_value());
  CHECK((product.problem->m == 100 && product.problem->n == 4096 && product.problem->k == 0));
  CHECK((product.problem->lda == 7 && product.problem->alpha == 0.5));
  CHECK(product.problem->transa == Transpose::yes);
  for (const OptionValues& wrong :
       {OptionValues{{"rung", std::string("fp32/1_naive")}},
        {{"type", std::string("fp33")}},
        {{"transa", std::string("X")}},
        {{"m", std::int64_t{10}}, {"lda", std::int64_t{9}}},
        {{"rung", std::string("fp32/row_major/02_coalesced")}, {"type", std::string("bf16")}},
        {{"alpha", 0.5}},
        {{"beta", 0.5}, {"rung", std::string("int8/01_wgmma")}}}) {
    CHECK_THROWS_AS(read_request(wrong), Error);
  }
  // Integers take no half, whoever else is asked for does.
  CHECK(read_request({{"alpha", 0.5}, {"type", std::string("fp64")}}).problem->of == Class::fp64);
  CHECK_NOTHROW(read_request({{"beta", 2.0}, {"type", std::string("int8")}}));
}

TEST_CASE("rungs that were asked for and do not run here are named", "[gemm]") {
  DeviceFacts ampere;
  ampere.major = 8;
  ampere.minor = 6;
  const auto refusal = [&](const OptionValues& values) -> std::string {
    const Refusal refused = refusal_of([&] { ladder_cases(ampere, read_request(values)); });
    CHECK((refused.text.empty() || refused.code == ExitCode::bad_input));
    return refused.text;
  };
  CHECK(refusal({{"rung", std::string("fp32/row_major/01_naive")}}).empty());
  CHECK(refusal({{"rung", std::string("fp32/row_major/01_naive,bf16/05_wgmma")}}) ==
        "The rung bf16/05_wgmma runs on compute capability 9.0 only, and this GPU has 8.6: take "
        "others.");
  CHECK(refusal({{"type", std::string("fp8")}}) ==
        "No rung of this type runs on compute capability 8.6: take another.");
}

TEST_CASE("a rung that was asked for is a contender where the whole ladder makes it one",
          "[gemm]") {
  DeviceFacts device;
  device.major = 9;
  CHECK_FALSE(contends(*find_rung("fp16/04_multistage"), device));
  device.major = 8;
  CHECK(contends(*find_rung("fp16/04_multistage"), device));
  CHECK_FALSE(contends(*find_rung("fp16/03_mma_sync"), device));
}

TEST_CASE("a class' peak is its units' rate at the highest clock", "[gemm]") {
  DeviceFacts h200;
  h200.major = 9;
  h200.sms = 132;
  CHECK_FALSE(arithmetic_peak(h200, Class::fp32).has_value());  // the clock is not known
  h200.sm_clock_max_hz = 1980e6;
  const auto tera = [&](Class of) {
    return std::round(arithmetic_peak(h200, of)->value * 1e-11) / 10;
  };
  CHECK(tera(Class::fp32) == 66.9);
  CHECK(tera(Class::fp64) == 66.9);  // tensor cores: twice the FMA units
  CHECK(tera(Class::tf32) == 535.3);
  CHECK(tera(Class::fp32_3xtf32) == 178.4);
  CHECK(tera(Class::bf16) == 1070.5);
  CHECK(tera(Class::fp16) == 1070.5);
  CHECK(tera(Class::fp8) == 2141.1);
  CHECK(tera(Class::int8) == 2141.1);
  CHECK(arithmetic_peak(h200, Class::bf16)->clock_hz == 1980e6);
  h200.major = 7;
  h200.minor = 5;
  CHECK_FALSE(arithmetic_peak(h200, Class::bf16).has_value());  // Turing has no bf16
}
