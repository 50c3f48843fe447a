// What a kernel of a rung's launch is called, and which of them multiplies.

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

TEST_CASE("of a launch the kernel that multiplies is the first product, whatever is around it",
          "[gemm]") {
  const LaunchedKernel transposed{"_ZN6fathom4gemm9transposeIfEEvPKT_"},
      streamed{"_ZN6fathom4gemm16streamed_productINS0_14StreamedKernelIiLi3EEEEEvi"},
      naive{
          "_ZN6fathom4gemm4fp3244_GLOBAL__N__0d1c2b3a_11_01_naive_cu_5566778813naive_productENS0_"
          "7ProductIfffEEi"},
      of_sign{"_ZN6fathom4gemm15product_of_signEv"}, unknown{};
  const std::vector<LaunchedKernel> copied{transposed, streamed, naive}, two{naive, streamed},
      none{transposed, unknown, of_sign};
  CHECK(product_kernel(copied) == &copied[1]);
  CHECK(product_kernel(two) == &two[0]);
  CHECK(product_kernel(none) == nullptr);
  CHECK(product_kernel({}) == nullptr);
}
