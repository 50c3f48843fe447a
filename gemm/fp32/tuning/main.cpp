// gemm_fp32_variants: times every variant of the fp32 kernels and the vendor's library on one
// product, after holding each variant against the reference.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <regex>

#include "gemm/fp32/tuning/variants.h"
#include "harness/cuda_handles.h"

namespace fathom::gemm {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Times variants of the fp32 kernels against the vendor's library.");
  std::vector<std::int64_t> sizes{4096, 4096, 4096};
  std::string filter = ".", transposes = "NN";
  bool list = false, alone = false;
  Comparison how;
  app.add_option("sizes", sizes, "m n k")->expected(3);
  app.add_option("--filter", filter, "regular expression of variants' names");
  app.add_option("--transposes", transposes, "NN, NT, TN or TT")
      ->check(CLI::IsMember({"NN", "NT", "TN", "TT"}));
  app.add_option("--rounds", how.rounds, "bursts of each");
  app.add_flag("--sustained", how.sustained, "keep each under load instead");
  app.add_flag("--alone", alone, "without the library");
  app.add_flag("--list", list, "print the variants' names");
  CLI11_PARSE(app, argc, argv);
  how.opponents = !alone;
  std::vector<Trial> chosen;
  for (const Trial& v : fp32::variants()) {
    if (std::regex_search(v.name, std::regex(filter))) chosen.push_back(v);
  }
  if (list) {
    for (const Trial& v : chosen) std::puts(v.name.c_str());
    return 0;
  }
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  Context context(facts, stream.get(), 1);
  const auto of = [&](int i) { return transposes[i] == 'N' ? Transpose::no : Transpose::yes; };
  const Problem problem = make_problem(Class::fp32, sizes[0], sizes[1], sizes[2], of(0), of(1));
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
