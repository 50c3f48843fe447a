// gemm_fp32_variants: times variants of the fp32 kernels and the vendor's library.

#include "gemm/fp32/tuning/variants.h"
#include "gemm/tuning/program.h"

int main(int argc, char** argv) {
  using namespace fathom::gemm;
  return run_tuning({"Times variants of the fp32 kernels and the vendor's library.",
                     {Class::fp32},
                     [](Class, bool) { return fp32::variants(); }},
                    argc, argv);
}
