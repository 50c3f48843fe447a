// Which rungs are asked for, and what bounds them.

#include "gemm/bench/cases.h"
#include "gemm/bench/request.h"
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
  // Integers take no half, whoever else is asked for does.
  CHECK(read_request({{"alpha", 0.5}, {"type", std::string("fp64")}}).problem->of == Class::fp64);
  CHECK_NOTHROW(read_request({{"beta", 2.0}, {"type", std::string("int8")}}));
}

TEST_CASE("a run that is asked to tune says that it would anyway", "[gemm]") {
  CHECK(read_request({}).notes.empty());
  const auto notes = read_request({{"autotune", std::int64_t{1}}}).notes;
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], contains("--autotune has nothing to add"));
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

// Hopper's peaks are held against recordings (gemm_cases_test.cpp).
TEST_CASE("no peak is known without the clock, nor of a class that a GPU lacks", "[gemm]") {
  DeviceFacts gpu;
  gpu.major = 9;
  gpu.sms = 132;
  CHECK_FALSE(arithmetic_peak(gpu, Class::fp32).has_value());
  gpu.sm_clock_max_hz = 1980e6;
  CHECK(arithmetic_peak(gpu, Class::bf16).has_value());
  gpu.major = 7;
  gpu.minor = 5;
  CHECK_FALSE(arithmetic_peak(gpu, Class::bf16).has_value());
}
