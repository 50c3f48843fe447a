// gemm_half_variants: times variants of Hopper's kernels for bf16 and fp8 and the vendor's library.

#include "gemm/half/tuning/variants.h"
#include "gemm/tuning/program.h"

int main(int argc, char** argv) {
  using namespace fathom::gemm;
  return run_tuning(
      {"Times variants of Hopper's kernels for bf16 and fp8 and the vendor's library.",
       {Class::bf16, Class::fp8},
       &half::variants},
      argc, argv);
}
