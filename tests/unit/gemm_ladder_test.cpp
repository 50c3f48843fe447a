#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <set>

#include "gemm/cases.h"
#include "gemm/fp32/tilings.h"
#include "gemm/opponents.h"
#include "gemm/request.h"
#include "gemm/rung.h"
#include "results/error.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("rungs are numbered in order, say what they add, and are found by their id", "[gemm]") {
  std::set<std::string> ids;
  for (const ClassTraits& row : all_classes()) {
    std::string last;
    for (const Rung* rung : rungs_of(row.of)) {
      CAPTURE(rung->id);
      CHECK(rung->id.starts_with(std::string(row.name) + "/"));
      CHECK(ids.insert(rung->id).second);
      CHECK(rung->id > last);
      last = rung->id;
      CHECK_FALSE(rung->idea.empty());
      CHECK_FALSE(rung->gain.empty());
      CHECK(rung->launch != nullptr);
      CHECK(rung->kernel.function != nullptr);
      CHECK(rung->kernel.threads % 32 == 0);
      CHECK(find_rung(rung->id) == rung);
    }
  }
  CHECK(rungs_of(Class::fp32).size() >= 22);
  CHECK(find_rung("fp32/99") == nullptr);
}

TEST_CASE("a rung that needs newer instructions is left out on older GPUs", "[gemm]") {
  const Rung& async = *find_rung("fp32/20_async_multistage");
  CHECK_FALSE(runs_on(async, 7, 5));
  CHECK(runs_on(async, 8, 0));
  CHECK(runs_on(async, 12, 0));
  Rung hopper = async;
  hopper.capability = 90;
  hopper.exact_capability = true;
  CHECK(runs_on(hopper, 9, 0));
  CHECK_FALSE(runs_on(hopper, 10, 0));
}

TEST_CASE("the plan fills the SMs", "[gemm]") {
  constexpr int sms = 132;
  using fp32::make_plan;
  CHECK(make_plan(15, 15, 100, sms).tiling == nullptr);
  CHECK(make_plan(4096, 4096, 0, sms).tiling == nullptr);
  const fp32::Plan large = make_plan(8192, 8192, 8192, sms);
  REQUIRE(large.tiling != nullptr);
  CHECK(large.parts == 1);
  CHECK(large.tiling->m * large.tiling->n == 128 * 256);
  for (const std::int64_t n : {16, 128}) {
    const fp32::Plan skinny = make_plan(8192, n, 8192, sms);
    REQUIRE(skinny.tiling != nullptr);
    CAPTURE(n, skinny.tiling->name, skinny.parts);
    CHECK(skinny.tiling->n <= n);
    CHECK(skinny.parts > 1);
    const std::int64_t blocks =
        (8192 / skinny.tiling->m) * ((n + skinny.tiling->n - 1) / skinny.tiling->n) * skinny.parts;
    CHECK(blocks >= sms * 9 / 10);
  }
  for (std::int64_t size = 16; size < 3000; size += 97) {
    const fp32::Plan plan = make_plan(size, size, size, sms);
    if (plan.tiling == nullptr) continue;
    CHECK(fp32::fits(*plan.tiling, size, size, size));
    CHECK(plan.parts <= fp32::most_parts(*plan.tiling, size));
  }
}

TEST_CASE("equal shares and sliced depth say what workspace they take", "[gemm]") {
  constexpr int sms = 132;
  const Rung& shares = *find_rung("fp32/25_equal_shares");
  const Rung& sliced = *find_rung("fp32/26_sliced_depth");
  const auto bytes = [&](const Rung& rung, std::int64_t m, std::int64_t n, std::int64_t k) {
    return rung.workspace_bytes(make_problem(Class::fp32, m, n, k), sms);
  };
  constexpr std::size_t a_tile = 128 * 256 * sizeof(float);
  // BLAS's B lies along k: copied for the copy engine where the product is large for it.
  CHECK(bytes(shares, 4096, 4096, 4096) >= sms * a_tile + 4096 * 4096 * sizeof(float));
  CHECK(bytes(shares, 128, 8192, 8192) >= sms * a_tile);
  CHECK(bytes(shares, 128, 8192, 8192) < sms * a_tile + 8192 * 8192 * sizeof(float));
  CHECK(bytes(shares, 4096, 4096, 0) == 0);
  CHECK(bytes(sliced, 16, 8192, 8192) == 0);
  CHECK(bytes(sliced, 17, 8192, 8192) == bytes(shares, 17, 8192, 8192));
  for (const Rung* rung : {&shares, &sliced}) {
    CHECK(rung->takes_own_path(make_problem(Class::fp32, 128, 256, 64)));
    CHECK(rung->takes_own_path(make_problem(Class::fp32, 256, 128, 64)));
    CHECK_FALSE(rung->takes_own_path(make_problem(Class::fp32, 127, 300, 64)));
  }
}

TEST_CASE("the fastest algorithm has the lowest median, and one that failed is not taken", "[gemm]") {
  using Times = std::vector<std::vector<double>>;
  CHECK_FALSE(fastest(Times{}).has_value());
  CHECK_FALSE(fastest(Times{{}, {}}).has_value());
  CHECK(fastest(Times{{3, 3, 3}, {}, {1, 2, 9}, {2, 2, 2}}) == 2);
  CHECK(fastest(Times{{}, {5}}) == 1);
  CHECK_THROWS(fastest(Times{{std::numeric_limits<double>::quiet_NaN()}}));
}

TEST_CASE("the command line asks for rungs and products", "[gemm]") {
  const Request all = read_request({});
  CHECK(all.wants(*find_rung("fp32/01_naive")));
  CHECK_FALSE(all.problem.has_value());
  const Request two = read_request({{"rung", std::string("fp32/01_naive,fp32/04_shared_memory")}});
  CHECK(two.wants(*find_rung("fp32/04_shared_memory")));
  CHECK_FALSE(two.wants(*find_rung("fp32/02_coalesced")));
  CHECK_FALSE(read_request({{"type", std::string("fp64")}}).wants(*find_rung("fp32/01_naive")));
  const Request product = read_request({{"m", std::int64_t{100}}, {"k", std::int64_t{0}},
                                        {"transa", std::string("t")}, {"lda", std::int64_t{7}},
                                        {"alpha", 0.5}});
  REQUIRE(product.problem.has_value());
  CHECK((product.problem->m == 100 && product.problem->n == 4096 && product.problem->k == 0));
  CHECK((product.problem->lda == 7 && product.problem->alpha == 0.5));
  CHECK(product.problem->transa == Transpose::yes);
  for (const OptionValues& wrong :
       {OptionValues{{"rung", std::string("fp32/1_naive")}}, {{"type", std::string("fp33")}},
        {{"transa", std::string("X")}}, {{"m", std::int64_t{10}}, {"lda", std::int64_t{9}}}}) {
    CHECK_THROWS_AS(read_request(wrong), Error);
  }
}

TEST_CASE("the sweep has every rung that the GPU runs, and contenders where they must win", "[gemm]") {
  DeviceFacts device;
  device.major = 9;
  device.sms = 132;
  device.bounds = {{"fp32_fma", "FLOP/s", "planted", 66.9e12}};
  const auto cases = ladder_cases(device, {});
  std::set<std::string> names;
  std::size_t contests = 0;
  for (const Case& c : cases) {
    CHECK(names.insert(c.name).second);
    CHECK(c.prepare);
    contests += c.name.find("4095x4095x4095") != std::string::npos;
  }
  CHECK(contests >= 1);
  CHECK(names.contains("fp32/01_naive/NN/4096x4096x4096"));
  CHECK(names.contains("fp32/22_planned_tiles/NN/16x8192x8192"));
  CHECK(names.contains("fp32/25_equal_shares/NN/128x8192x8192"));
  CHECK(names.contains("fp32/26_sliced_depth/NN/16x8192x8192"));
  device.major = 7;
  device.minor = 5;
  for (const Case& c : ladder_cases(device, {})) CHECK(c.name.find("async") == std::string::npos);
}
