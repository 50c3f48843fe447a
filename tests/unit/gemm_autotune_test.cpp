// What autotuning tries, takes and says, without a GPU.

#include "gemm/bench/autotune.h"
#include "gemm/bench/launched_kernels.h"
#include "gemm/bench/request.h"
#include "gemm/best/fp32/tilings.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("a run tunes each product once, and says what it chose", "[gemm]") {
  Autotuner autotuner(true);
  const Problem product = make_problem(Class::fp32, 512, 256, 1024);
  Rung rung, other;
  rung.name = "a";
  other.name = "b";
  CHECK(autotuner.find(rung, product) == nullptr);
  autotuner.keep({rung.id(), product.describe(), "second", "first", 1.25e-3, 1.5e-3, 7});
  REQUIRE(autotuner.find(rung, product) != nullptr);
  CHECK(autotuner.find(rung, product)->variant == "second");
  CHECK(autotuner.find(other, product) == nullptr);
  CHECK(autotuner.find(rung, make_problem(Class::fp32, 512, 256, 1025)) == nullptr);
  REQUIRE(autotuner.notes().size() == 1);
  CHECK_THAT(autotuner.notes()[0],
             contains("fp32/a on " + product.describe() + ": second, 1.25 ms against 1.5 ms") &&
                 contains("7 variants"));
}

TEST_CASE("a run that finds nothing to tune says so", "[gemm]") {
  REQUIRE(Autotuner(true).notes().size() == 1);
  CHECK_THAT(Autotuner(true).notes()[0],
             contains("Nothing was tuned") && contains("fp32/22_planned_tiles"));
  CHECK(Autotuner().notes().empty());
}

TEST_CASE("the command line's word for autotuning", "[gemm]") {
  CHECK_FALSE(read_request({}).autotune);
  CHECK(read_request({{"autotune", std::int64_t{1}}}).autotune);
}

TEST_CASE("a variant is preferred to the default only where it is clearly faster", "[gemm]") {
  CHECK_FALSE(clearly_faster(1.2, 1.0));
  CHECK_FALSE(clearly_faster(0.998, 1.0));
  CHECK(clearly_faster(0.97, 1.0));
}

TEST_CASE("the tilings' variants begin with the plan's and fit the product", "[gemm]") {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{4096, 4096, 4096},
                                {128, 8192, 8192},
                                {16, 8192, 8192},
                                {300, 300, 7}}) {
    const Problem problem = make_problem(Class::fp32, m, n, k);
    const auto variants = fp32::tiling_variants(problem, 132);
    CAPTURE(problem.describe(), variants.size());
    const fp32::Plan plan = fp32::make_plan(problem, 132);
    REQUIRE(plan.tiling != nullptr);
    REQUIRE_FALSE(variants.empty());
    CHECK(variants.front().kernel.function == plan.tiling->kernel.function);
    CHECK(variants.front().kernel.parts == plan.parts);
    std::set<std::string> names;
    for (const Variant& variant : variants) {
      CHECK(names.insert(variant.name).second);
      CHECK(variant.workspace_bytes == fp32::bytes_of_parts(problem, variant.kernel.parts));
      CHECK(variant.launch);
    }
    CHECK(variants.size() > 1);
    CHECK(variants.size() < 60);
  }
  CHECK(fp32::tiling_variants(make_problem(Class::fp32, 4, 4, 4), 132).empty());
}

TEST_CASE("a kernel's name is shown without what a reader does not need", "[gemm]") {
  CHECK(readable_kernel_name("ampere_sgemm_128x128_nn") == "ampere_sgemm_128x128_nn");
  CHECK(readable_kernel_name("_Z4copyILi4EEvPKfPf") == "copy<4>");
  CHECK(readable_kernel_name("_ZN12_GLOBAL__N_13addEPf") == "(anonymous namespace)::add");
  CHECK(readable_kernel_name(std::string(300, 'x')).size() == 160);
}
