// gemm_fp64_variants: times variants of the fp64 kernels and the vendor's library.

#include "gemm/fp64/tuning/variants.h"
#include "gemm/tuning/program.h"

int main(int argc, char** argv) {
  using namespace fathom::gemm;
  return run_tuning({"Times variants of the fp64 kernels and the vendor's library.",
                     {Class::fp64},
                     [](Class, bool) { return fp64::variants(); }},
                    argc, argv);
}
