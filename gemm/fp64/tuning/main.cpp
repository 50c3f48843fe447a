// gemm_fp64_variants [m n k [sustained]]: times every variant of the fp64 kernels and the vendor's
// library on one product, alternately, after holding each against the reference. gemm_fp64_variants
// check: holds each against the reference on small products of every kind.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "gemm/fp64/tuning/variants.h"
#include "harness/cuda_handles.h"

namespace fathom::gemm {
namespace {

/// Edges of tiles and stages, all layouts, columns that start on 16 bytes and that do not.
int check_all(Context& context) {
  struct Shape {
    std::int64_t m, n, k;
  };
  constexpr Shape shapes[] = {{1, 1, 1},      {16, 128, 16},   {128, 256, 64}, {67, 61, 97},
                              {129, 257, 65}, {264, 136, 328}, {5, 300, 1000}, {1500, 2100, 900}};
  int wrong = 0, right = 0;
  const auto references = std::make_shared<ReferenceStore>();
  for (const Shape& s : shapes) {
    for (int kind = 0; kind < 16; ++kind) {
      Problem problem = make_problem(
          Class::fp64, s.m, s.n, s.k, kind % 2 == 0 ? Transpose::no : Transpose::yes,
          kind / 2 % 2 == 0 ? Transpose::no : Transpose::yes, kind < 8 ? 1 : 2, kind < 8 ? 0 : -3);
      problem.lda += problem.lda % 2 ^ (kind / 4 % 2);
      problem.ldb += problem.ldb % 2 ^ (kind / 8 % 2);
      problem.ldc += kind % 3;
      const auto operands = std::make_shared<Operands>(context, references, problem, "variant");
      for (const Trial& trial : fp64::variants()) {
        const std::optional<std::string> what = wrong_with(context, trial, operands);
        if (what) fmt::print("WRONG {}: {}\n", trial.name, *what);
        ++(what ? wrong : right);
      }
      if (wrong > 40) break;
    }
  }
  fmt::print("{} right, {} wrong\n", right, wrong);
  std::fflush(stdout);
  return wrong == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  const auto product = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return make_problem(Class::fp64, m, n, k);
  };
  if (argc == 2 && std::string(argv[1]) == "check") {
    Context context(facts, stream.get(), 1);
    return check_all(context);
  }
  std::vector<std::pair<Problem, bool>> products;
  if (argc >= 4) {
    products.push_back(
        {product(std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3])), argc > 4});
  } else {
    products = {{product(4096, 4096, 4096), false}, {product(8192, 8192, 8192), false},
                {product(4095, 4095, 4095), false}, {product(16, 8192, 8192), false},
                {product(64, 8192, 8192), false},   {product(128, 8192, 8192), false}};
  }
  const std::vector<Trial> trials = fp64::variants();
  bool right = true;
  for (const auto& [problem, sustained] : products) {
    Context context(facts, stream.get(), 1);
    right = compare(context, problem, trials, {.sustained = sustained}) && right;
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace fathom::gemm

int main(int argc, char** argv) try {
  return fathom::gemm::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
