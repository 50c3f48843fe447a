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
      Mistake{{"--rung", "fp32/row_major/2_coalesced"},
              "Did you mean `fp32/row_major/02_coalesced`?"},
      Mistake{{"--rung", ""}, "--rung takes a rung"}, Mistake{{"--type", "fp33"}, "take one of"},
      Mistake{{"--rung", "fp32/row_major/01_naive", "--type", "fp8"}, "not of the type fp8"},
      Mistake{{"--m", "-1"}, "--m"}, Mistake{{"--n", "1.5"}, "--n"},
      Mistake{{"--k", "many"}, "--k"}, Mistake{{"--m", "1073741825"}, "1073741824"},
      Mistake{{"--k", "1e30"}, "`1e30` is not a whole number from 0 to 1073741824. See"},
      Mistake{{"--suite", "nope"}, "`nope` is none of quick, default. See"},
      Mistake{{"--time-limit", "0"},
              "`0` is not a number of seconds above 0, 1000000 at most. See"},
      Mistake{{"--time-limit", "nan"}, "`nan` is not a number of seconds"},
      Mistake{{"--seed", "-1"}, "`-1` is not a whole number from 0 on. See"},
      Mistake{{"--seed", "1.5"}, "`1.5` is not a whole number"},
      Mistake{{"--device", "x"}, "`x` is not a whole number from 0 to 2147483647. See"},
      Mistake{{"--device", "99999999999"}, "`99999999999` is not a whole number"},
      Mistake{{"--progress-fd", "-3"}, "`-3` is not a whole number"},
      Mistake{{"--m", "3", "--m", "4"}, "--m takes one value, not 2. See"},
      Mistake{{"--autotune=x"}, "--autotune does not take `x`. See"},
      Mistake{{"--out", ""}, "--out: it is empty"}, Mistake{{"--m"}, "--m"},
      Mistake{{"--m", "10", "--lda", "9"}, "at least 10"}, Mistake{{"--ldc", "0"}, "--ldc"},
      Mistake{{"--transa", "X"}, "N or T"}, Mistake{{"--alpha", "half"}, "--alpha"},
      Mistake{{"--alpha", "nan", "--type", "fp32"}, "--alpha: `nan` is not a finite number. See"},
      Mistake{{"--beta", "1e400", "--type", "fp64"}, "--beta: `1e400` is not a finite number. See"},
      Mistake{{"--alpha"}, "--alpha needs a value. See"},
      Mistake{{"--alpha", "1000", "--type", "fp16"},
              "the largest that C of fp16 holds is 65504: take alpha up to 120."},
      Mistake{{"--beta", "1e39", "--type", "bf16"}, "3.4e+38"},
      Mistake{{"--alpha", "0.5"}, "whole numbers; --type or --rung choose others"},
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

TEST_CASE("A result that could not be written is no reason to measure", "[e2e]") {
  Sandbox box({});
  box.set("CUDA_VISIBLE_DEVICES", "");
  const auto nowhere = box.folder() / "none" / "result.json";
  const auto run = run_and_capture(gemm_ladder, {"--out", nowhere}, 30s);
  INFO(run.errors);
  CHECK(code(run) == to_int(ExitCode::output_unwritable));
  CHECK_THAT(run.errors, ContainsSubstring(nowhere.string() + " cannot be written"));
  const auto there = box.folder() / "result.json";
  CHECK(code(run_and_capture(gemm_ladder, {"--out", there}, 30s)) !=
        to_int(ExitCode::output_unwritable));
  CHECK_FALSE(std::filesystem::exists(there));
}

TEST_CASE("The ladder's help says what rungs and defaults there are, in a user's words", "[e2e]") {
  Sandbox box({});
  const auto help = run_and_capture(gemm_ladder, {"--help"}, 30s);
  CHECK(code(help) == 0);
  for (const char* said : {"--m N ", "(default: 4096)", "--suite NAME=default", "--autotune ",
                           "Rungs:\n  fp32/column_major/01_naive", " fp32/22_planned_tiles",
                           " fp8/02_fast_accumulation"})
    CHECK_THAT(help.output, ContainsSubstring(said));
  for (const char* internal : {"INT", "ENUM", "{false}", "FLOAT", "NONNEGATIVE"})
    CHECK_THAT(help.output, !ContainsSubstring(internal));
}

}  // namespace
}  // namespace fathom
