// What a user of gemm_ladder can get wrong: each is one sentence and exit code 2, before a GPU is
// asked for.

#include "sandbox.h"
#include "tests/golden/golden.h"

using namespace fathom;

const auto gemm_ladder = fs::path(FATHOM_PROGRAM).parent_path() / "gemm_ladder";

TEST_CASE("A wrong word to the ladder is one sentence", "[e2e]") {
  Sandbox box({});
  box.set("CUDA_VISIBLE_DEVICES", "");
  const auto answer = [&](const std::string& line) {
    const CapturedRun run = run_and_capture(gemm_ladder, words(line), 30s);
    expect(ExitCode::bad_input, run).is_one_sentence();
    return run.errors;
  };
  CHECK(check_answers(FATHOM_GOLDEN_FOLDER "/ladder_mistakes.txt", "gemm_ladder", answer) == 24);
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
