// What a user of gemm_ladder can get wrong: each is one sentence and exit code 2, before a GPU is
// asked for.

#include "sandbox.h"

using namespace fathom;

const auto gemm_ladder = fs::path(FATHOM_PROGRAM).parent_path() / "gemm_ladder";

TEST_CASE("A wrong word to the ladder is one sentence", "[e2e]") {
  const auto mistake = GENERATE(values<Mistake>(
      {{"--rung fp32/row_major/2_coalesced", "Did you mean `fp32/row_major/02_coalesced`?"},
       {"--rung ''", "--rung takes a rung"},
       {"--type fp33", "take one of"},
       {"--rung fp32/row_major/01_naive --type fp8", "not of the type fp8"},
       {"--n many", "--n"},
       {"--m 1073741825", "1073741824"},
       {"--suite nope", "`nope` is none of quick, default. See"},
       {"--time-limit 0", "`0` is not a number of seconds above 0, 1000000 at most. See"},
       {"--seed -1", "`-1` is not a whole number from 0 on. See"},
       {"--device x", "`x` is not a whole number from 0 to 2147483647. See"},
       {"--progress-fd -3", "`-3` is not a whole number"},
       {"--m 3 --m 4", "--m takes one value, not 2. See"},
       {"--autotune=x", "--autotune does not take `x`. See"},
       {"--out ''", "--out: it is empty"},
       {"--m 10 --lda 9", "at least 10"},
       {"--transa X", "N or T"},
       {"--alpha half", "--alpha"},
       {"--alpha nan --type fp32", "--alpha: `nan` is not a finite number. See"},
       {"--beta 1e400 --type fp64", "--beta: `1e400` is not a finite number. See"},
       {"--alpha", "--alpha needs a value. See"},
       {"--alpha 1000 --type fp16", "take alpha up to 120."},
       {"--alpha 0.5", "whole numbers; --type or --rung choose others"},
       {"--rungs x", "Did you mean `--rung`?"},
       {"4096", "4096"}}));
  Sandbox box({});
  box.set("CUDA_VISIBLE_DEVICES", "");
  expect(ExitCode::bad_input, run_and_capture(gemm_ladder, words(mistake.line), 30s))
      .complains(mistake.said)
      .is_one_sentence();
}

TEST_CASE("A result that could not be written is no reason to measure", "[e2e]") {
  Sandbox box({});
  box.set("CUDA_VISIBLE_DEVICES", "");
  const auto nowhere = box.folder() / "none" / "result.json";
  expect(ExitCode::output_unwritable, run_and_capture(gemm_ladder, {"--out", nowhere}, 30s))
      .complains(nowhere.string() + " cannot be written");
  const auto there = box.folder() / "result.json";
  CHECK(code(run_and_capture(gemm_ladder, {"--out", there}, 30s)) !=
        to_int(ExitCode::output_unwritable));
  CHECK_FALSE(fs::exists(there));
}

TEST_CASE("The ladder's help says what rungs and defaults there are, in a user's words", "[e2e]") {
  Sandbox box({});
  const CapturedRun help = expect(0, run_and_capture(gemm_ladder, {"--help"}, 30s));
  for (const char* said : {"--m N ", "(default: 4096)", "--suite NAME=default", "--autotune ",
                           "Rungs:\n  fp32/column_major/01_naive", " fp32/26_sliced_depth",
                           " fp8/02_fast_accumulation"})
    has(help.output, said);
  for (const char* internal : {"INT", "ENUM", "{false}", "FLOAT", "NONNEGATIVE"})
    lacks(help.output, internal);
}
