// gemm_half_variants [m n k [sustained]]: times every variant of the bf16 kernels and the vendor's
// library on one product, alternately, after holding each against the reference.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "gemm/half/tuning/variants.h"
#include "gemm/tuning/compare.h"
#include "harness/cuda_handles.h"

namespace fathom::gemm {
namespace {

void compare_shapes(Context& context, const Problem& problem, bool sustained) {
  const bool skinny = std::min(problem.m, problem.n) <= 128;
  std::vector<Variant> chosen;
  for (const half::Shaped& shaped : half::variants()) {
    if (shaped.skinny == skinny) chosen.push_back(shaped.variant);
  }
  Comparison how;
  how.sustained = sustained;
  compare(context, problem, chosen, how);
}

int run(int argc, char** argv) {
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  const auto product = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return make_problem(Class::bf16, m, n, k);
  };
  std::vector<std::pair<Problem, bool>> products;
  if (argc >= 4) {
    products.push_back(
        {product(std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3])), argc > 4});
  } else {
    products = {{product(4096, 4096, 4096), false}, {product(8192, 8192, 8192), false},
                {product(8192, 8192, 8192), true},  {product(4095, 4095, 4095), false},
                {product(16, 8192, 8192), false},   {product(128, 8192, 8192), false}};
  }
  for (const auto& [problem, sustained] : products) {
    Context context(facts, stream.get(), 1);
    compare_shapes(context, problem, sustained);
  }
  return 0;
}

}  // namespace
}  // namespace fathom::gemm

int main(int argc, char** argv) try {
  return fathom::gemm::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
