// gemm_streamed_variants: times variants of the kernel that streams a skinny product's large
// operand, the ladder's best and the vendor's library.

#include "gemm/tuning/program.h"
#include "gemm/tuning/streamed_variants.h"

int main(int argc, char** argv) {
  using namespace fathom::gemm;
  return run_tuning(
      {"Times kernels that stream a skinny product's large operand and the vendor's library.",
       {Class::bf16, Class::fp16, Class::tf32, Class::fp64},
       &streamed_variants},
      argc, argv);
}
