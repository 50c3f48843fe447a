// gemm_small_variants: times kernels for small products, the ladder's best and the vendor's
// library.

#include "gemm/tuning/program.h"
#include "gemm/tuning/small_variants.h"

namespace {

using namespace fathom::gemm;

std::vector<Trial> variants(Class of, bool) {
  if (of == Class::fp32) return fp32::small_variants();
  if (of == Class::fp64) return fp64::small_variants();
  if (of == Class::fp8) return fp8::small_variants();
  if (of == Class::int8) return int8::small_variants();
  return half::small_variants();
}

}  // namespace

int main(int argc, char** argv) {
  TuningProgram program{"Times kernels for small products and the vendor's library.",
                        {Class::bf16, Class::fp8, Class::int8, Class::fp32, Class::fp64},
                        &variants};
  program.contested.clear();
  for (const std::int64_t size : {256, 384, 512, 768, 1024, 1280, 1536, 2048})
    program.contested.push_back({size, size, size});
  return run_tuning(program, argc, argv);
}
