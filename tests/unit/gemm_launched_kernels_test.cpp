// What a kernel of a rung's launch is called. Which of them multiplies, tests/gpu asks of every
// rung.

#include "gemm/bench/launched_kernels.h"
#include "tests/testing.h"

using namespace fathom::gemm;

TEST_CASE("a kernel's name is shown without what a reader does not need", "[gemm]") {
  // The namespaces that all of the ladder's have.
  const std::string streamed = "_ZN6fathom4gemm16streamed_productINS0_14StreamedKernelIiLi3EEEEEvi";
  CHECK(kernel_name(streamed) == "streamed_product<StreamedKernel<int, 3> >");
  CHECK(kernel_template(streamed) == "streamed_product");
  CHECK(kernel_template("cublas_kernel") == "cublas_kernel");
  CHECK(kernel_template("").empty());
  CHECK(kernel_name("ampere_sgemm_128x128_nn") == "ampere_sgemm_128x128_nn");
  CHECK(kernel_name("_Z4copyILi4EEvPKfPf") == "copy<4>");
  CHECK(kernel_name("_ZN12_GLOBAL__N_13addEPf") == "add");
}
