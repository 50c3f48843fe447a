// What autotuning tries and takes, without a GPU.

#include "gemm/bench/autotune.h"
#include "gemm/bench/launched_kernels.h"
#include "gemm/bench/request.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("a run that is asked to tune says that it would anyway", "[gemm]") {
  CHECK(read_request({}).notes.empty());
  const auto notes = read_request({{"autotune", std::int64_t{1}}}).notes;
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], contains("--autotune has nothing to add"));
}

TEST_CASE("a variant is preferred to the default only where it is clearly faster", "[gemm]") {
  CHECK_FALSE(clearly_faster(1.2, 1.0));
  CHECK_FALSE(clearly_faster(0.998, 1.0));
  CHECK(clearly_faster(0.97, 1.0));
}

TEST_CASE("variants fit the product and begin with the plan's", "[gemm]") {
  const Rung& rung = *find_rung("fp32/row_major/10_autotuned");
  const Problem problem = make_problem(Class::fp32, 512, 256, 1024);
  const auto variants = rung.variants(problem);
  REQUIRE(variants.size() == 7);
  CHECK(variants.front().kernel.function == rung.plan(problem, 132).kernel.function);
  std::set<std::string> names;
  for (const RungPlan& variant : variants) {
    CHECK(names.insert(variant.name).second);
    CHECK(variant.launch);
  }
  // 64 columns fit the tiles of so many alone, and an odd size none.
  CHECK(rung.variants(make_problem(Class::fp32, 64, 256, 1024)).size() < 7);
  CHECK(rung.variants(make_problem(Class::fp32, 511, 256, 1024)).empty());
  CHECK(find_rung("fp32/26_sliced_depth")->variants(problem).empty());
}

TEST_CASE("a kernel's name is shown without what a reader does not need", "[gemm]") {
  CHECK(readable_kernel_name("ampere_sgemm_128x128_nn") == "ampere_sgemm_128x128_nn");
  CHECK(readable_kernel_name("_Z4copyILi4EEvPKfPf") == "copy<4>");
  CHECK(readable_kernel_name("_ZN12_GLOBAL__N_13addEPf") == "(anonymous namespace)::add");
  CHECK(readable_kernel_name(std::string(300, 'x')).size() == 160);
}
