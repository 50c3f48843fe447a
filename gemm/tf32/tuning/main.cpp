// gemm_tf32_variants: times variants of the kernels of tf32, and of fp32 by three products of it,
// the ladder's best and the vendor's library.

#include "gemm/tf32/tuning/variants.h"
#include "gemm/tuning/program.h"

int main(int argc, char** argv) {
  using namespace fathom::gemm;
  return run_tuning(
      {"Times variants of the tf32 kernels, the ladder's best and the vendor's library.",
       {Class::tf32, Class::fp32_3xtf32},
       [](Class of, bool) { return tf32::variants(of); }},
      argc, argv);
}
