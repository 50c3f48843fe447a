// What is told of the kernels that a rung's launch consists of.

#include "gemm/bench/launched_kernels.h"
#include "tests/testing.h"

using namespace fathom::gemm;

namespace {

const std::string naive =
    "_ZN6fathom4gemm4fp3244_GLOBAL__N__0d1c2b3a_11_01_naive_cu_5566778813naive_productENS0_"
    "7ProductIfffEEi";
const std::string streamed = "_ZN6fathom4gemm16streamed_productINS0_14StreamedKernelIiLi3EEEEEvi";
const std::string transposed = "_ZN6fathom4gemm9transposeIfEEvPKT_";

std::vector<LaunchedKernel> launches(const std::vector<std::string>& names) {
  std::vector<LaunchedKernel> kernels;
  for (const std::string& name : names) kernels.push_back({.name = name});
  return kernels;
}

}  // namespace

TEST_CASE("a kernel of the ladder is named without the namespaces that all of them have",
          "[gemm]") {
  CHECK(kernel_name(streamed) == "streamed_product<StreamedKernel<int, 3> >");
  CHECK(kernel_template(streamed) == "streamed_product");
  CHECK(kernel_name(transposed) == "transpose<float>");
  CHECK(kernel_template("cublas_kernel") == "cublas_kernel");
  CHECK(kernel_template("").empty());
}

TEST_CASE("a kernel's name is shown without what a reader does not need", "[gemm]") {
  CHECK(kernel_name("ampere_sgemm_128x128_nn") == "ampere_sgemm_128x128_nn");
  CHECK(kernel_name("_Z4copyILi4EEvPKfPf") == "copy<4>");
  CHECK(kernel_name("_ZN12_GLOBAL__N_13addEPf") == "add");
}

TEST_CASE("of a launch the kernel that multiplies is the first product, whatever is around it",
          "[gemm]") {
  const auto multiplies = [](const std::vector<std::string>& names) -> std::string {
    const std::vector<LaunchedKernel> kernels = launches(names);
    const LaunchedKernel* kernel = product_kernel(kernels);
    return kernel == nullptr ? "none" : kernel_template(kernel->name);
  };
  CHECK(multiplies({transposed, streamed, "_ZN6fathom4gemm9add_partsEv"}) == "streamed_product");
  CHECK(multiplies({naive, streamed}) == "fp32::naive_product");
  CHECK(multiplies({transposed}) == "none");
  CHECK(multiplies({"", "_ZN6fathom4gemm15product_of_signEv"}) == "none");
  CHECK(multiplies({}) == "none");
}
