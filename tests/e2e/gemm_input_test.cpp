// What a user of gemm_ladder can get wrong: each is one sentence and exit code 2, before a GPU is
// asked for.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>

#include "results/error.h"
#include "sandbox.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;
using namespace std::chrono_literals;

const auto gemm_ladder = std::filesystem::path(FATHOM_PROGRAM).parent_path() / "gemm_ladder";

struct Mistake {
  std::vector<std::string> arguments;
  const char* said;
};

TEST_CASE("A wrong word to the ladder is one sentence", "[e2e]") {
  const auto mistake = GENERATE(
      Mistake{{"--rung", "fp32/2_coalesced"}, "Did you mean `fp32/02_coalesced`?"},
      Mistake{{"--rung", ""}, "--rung takes a rung"}, Mistake{{"--type", "fp33"}, "take one of"},
      Mistake{{"--rung", "fp32/01_naive", "--type", "fp8"}, "not of the type fp8"},
      Mistake{{"--m", "-1"}, "--m"}, Mistake{{"--n", "1.5"}, "--n"},
      Mistake{{"--k", "many"}, "--k"}, Mistake{{"--m", "1073741825"}, "1073741824"},
      Mistake{{"--m"}, "--m"}, Mistake{{"--m", "10", "--lda", "9"}, "at least 10"},
      Mistake{{"--ldc", "0"}, "--ldc"}, Mistake{{"--transa", "X"}, "N or T"},
      Mistake{{"--alpha", "half"}, "--alpha"},
      Mistake{{"--alpha", "nan", "--type", "fp32"}, "not finite"},
      Mistake{{"--beta", "1e400", "--type", "fp64"}, "not finite"},
      Mistake{{"--beta", "1e39", "--type", "bf16"}, "3.4e+38"},
      Mistake{{"--alpha", "0.5"}, "whole numbers; --type or --rung choose others"},
      Mistake{{"--no-tuning", "--autotune"}, "--no-tuning"},
      Mistake{{"--tuning", ""}, "takes a file"},
      Mistake{{"--rungs", "x"}, "Did you mean `--rung`?"}, Mistake{{"4096"}, "4096"});
  Sandbox box({});
  box.set("CUDA_VISIBLE_DEVICES", "");
  const auto run = run_and_capture(gemm_ladder, mistake.arguments, 30s);
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(ExitCode::bad_input));
  CHECK_THAT(run.errors, ContainsSubstring(mistake.said));
  CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
  CHECK(run.output.empty());
}

}  // namespace
}  // namespace fathom
