// Which of the library's algorithms stand against a rung, and how a kernel's name is shown.

#include "gemm/bench/fastest_way.h"
#include "gemm/bench/kernel_names.h"
#include "gemm/bench/opponents.h"
#include "gemm/bench/problem.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

TEST_CASE("the fastest few algorithms are tried again, others and failed ones are not", "[gemm]") {
  using Times = std::vector<double>;
  using Indices = std::vector<std::size_t>;
  constexpr double failed = std::numeric_limits<double>::infinity();
  CHECK(finalists({}).empty());
  CHECK(finalists(Times{failed, failed}).empty());
  CHECK(finalists(Times{1.0, failed, 1.49, 1.51, 5.0}) == Indices{0, 2});
  CHECK(finalists(Times{3.0, 1.1, 1.0}) == Indices{2, 1});
  CHECK(finalists(Times{7e-6, 5e-6, 15e-6}) == Indices{1, 0});
  // Among many that are equally fast, the ones that the heuristic names first.
  CHECK(finalists(Times(20, 1.0)) == Indices{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(finalists(Times{1.4, 1.3, 1.2, 1.1, 1.0, 1.1, 1.2, 1.3, 1.4, 1.0}) ==
        Indices{4, 9, 3, 5, 2, 6, 1, 7});
}

TEST_CASE("an algorithm is chosen for each product and kind of sums", "[gemm]") {
  const Problem p = make_problem(Class::fp8, 64, 64, 64, Transpose::yes);
  Problem other = p;
  other.ldc = 80;
  CHECK(choice_key(p, true) != choice_key(p, false));
  CHECK(choice_key(p, true) != choice_key(other, true));
}

TEST_CASE("a kernel's name is shown without what a reader does not need", "[gemm]") {
  // The namespaces that all of the ladder's have.
  const std::string streamed = "_ZN6fathom4gemm16streamed_productINS0_14StreamedKernelIiLi3EEEEEvi";
  CHECK(readable_name(streamed) == "streamed_product<StreamedKernel<int, 3> >");
  CHECK(readable_name("ampere_sgemm_128x128_nn") == "ampere_sgemm_128x128_nn");
  CHECK(readable_name("_Z4copyILi4EEvPKfPf") == "copy<4>");
  CHECK(readable_name("_ZN12_GLOBAL__N_13addEPf") == "add");
}
