#include "gemm/bench/kernel_names.h"
#include "tests/testing.h"

using fathom::gemm::readable_name;

TEST_CASE("a kernel's name is shown without what a reader does not need", "[gemm]") {
  // The namespaces that all of the ladder's have.
  const std::string streamed = "_ZN6fathom4gemm16streamed_productINS0_14StreamedKernelIiLi3EEEEEvi";
  CHECK(readable_name(streamed) == "streamed_product<StreamedKernel<int, 3> >");
  CHECK(readable_name("ampere_sgemm_128x128_nn") == "ampere_sgemm_128x128_nn");
  CHECK(readable_name("_Z4copyILi4EEvPKfPf") == "copy<4>");
  CHECK(readable_name("_ZN12_GLOBAL__N_13addEPf") == "add");
}
