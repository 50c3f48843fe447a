// gemm_streamed_variants: times every variant of the kernel that streams a skinny product's large
// operand and the vendor's library on one product, after holding each variant against the
// reference.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <regex>

#include "gemm/tuning/streamed_variants.h"
#include "harness/cuda_handles.h"

namespace fathom::gemm {
namespace {

/// Products at the edges of rows, slabs and clusters, both operands as the large one, and scalars.
/// Those that no kernel takes have no variants.
bool check(Context& context, Class of, std::span<const Trial> trials) {
  struct Size {
    std::int64_t side, columns, k;
  };
  constexpr Size sizes[] = {{1, 1, 128},      {15, 2, 256},    {17, 16, 384},   {100, 7, 1024},
                            {531, 16, 2176},  {1000, 4, 8192}, {4099, 16, 640}, {8192, 16, 8192},
                            {9001, 14, 8320}, {64, 16, 20480}};
  bool right = true;
  for (const Size& s : sizes) {
    for (int kind = 0; kind < 8; ++kind) {
      const bool swapped = kind % 2 != 0;
      // Along k on the large side, and either way on the small one.
      const Transpose of_small = kind / 2 % 2 == 0 ? Transpose::no : Transpose::yes;
      Problem problem = swapped ? make_problem(of, s.side, s.columns, s.k, Transpose::yes, of_small)
                                : make_problem(of, s.columns, s.side, s.k, of_small, Transpose::no);
      if (kind >= 4) {
        problem.alpha = 2;
        problem.beta = -3;
        problem.lda += 16;
        problem.ldb += 16;
        problem.ldc += 1;
      }
      std::vector<Trial> taking;
      for (const Trial& t : trials) {
        if (t.takes(problem)) taking.push_back(t);
      }
      if (!taking.empty())
        right = compare(context, problem, taking, {.opponents = false, .rounds = 1}) && right;
    }
  }
  std::puts(right ? "all right" : "WRONG: see above");
  return right;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Times kernels that stream a skinny product's large operand against the vendor's library.");
  std::string type = "bf16", filter = ".", transposes;
  std::vector<std::int64_t> sizes{16, 8192, 8192};
  bool list = false, alone = false, checks = false;
  Comparison how;
  app.add_option("type", type, "bf16, tf32, fp8 or fp64");
  app.add_option("sizes", sizes, "m n k")->expected(3);
  app.add_option("--filter", filter, "regular expression of variants' names");
  app.add_option("--transposes", transposes, "NN, NT, TN or TT; else as the ladder has the class")
      ->check(CLI::IsMember({"NN", "NT", "TN", "TT"}));
  app.add_option("--rounds", how.rounds, "bursts of each");
  app.add_flag("--sustained", how.sustained, "keep each under load instead");
  app.add_flag("--alone", alone, "without the library");
  app.add_flag("--check", checks,
               "hold each against the reference on small and odd products instead");
  app.add_flag("--list", list, "print the variants' names");
  CLI11_PARSE(app, argc, argv);
  how.opponents = !alone;
  const std::optional<Class> of = find_class(type);
  if (!of) {
    std::fprintf(stderr, "unknown type %s\n", type.c_str());
    return 1;
  }
  std::vector<Trial> chosen;
  for (const Trial& t : streamed_variants(*of)) {
    if (std::regex_search(t.name, std::regex(filter))) chosen.push_back(t);
  }
  if (list) {
    for (const Trial& t : chosen) std::puts(t.name.c_str());
    return 0;
  }
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  Context context(facts, stream.get(), 1);
  if (checks) return check(context, *of, chosen) ? 0 : 1;
  if (transposes.empty()) transposes = *of == Class::fp8 ? "TN" : "NN";
  const auto transpose = [&](int i) {
    return transposes[i] == 'N' ? Transpose::no : Transpose::yes;
  };
  const Problem problem =
      make_problem(*of, sizes[0], sizes[1], sizes[2], transpose(0), transpose(1));
  return compare(context, problem, chosen, how) ? 0 : 1;
}

}  // namespace
}  // namespace fathom::gemm

int main(int argc, char** argv) try {
  return fathom::gemm::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
