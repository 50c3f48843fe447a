// `fathom export` from outside: its streams, files and exit codes.

#include "sandbox.h"

using namespace fathom;

const std::string suite_default = FATHOM_RECORDING_FILE;
const std::string suite_atlas = fs::path(suite_default).parent_path() / "atlas" / "result.json";

TEST_CASE("An export goes to standard output or to a file, and is one text", "[e2e]") {
  Sandbox box({});
  for (const std::string format :
       {"machine", "csv", "openmetrics", "bmf", "accelsim", "inductor"}) {
    CAPTURE(format);
    const std::string line = "export " + format + " " + suite_atlas;
    const CapturedRun printed = expect(0, box.call(line)).no_errors();
    CHECK(printed.output.ends_with("\n"));
    expect(0, box.call(line + " --out file")).no_output();
    CHECK(file_text(box.folder() / "file") == printed.output);
  }
}

TEST_CASE("A bad export is one sentence and leaves no file", "[e2e]") {
  Sandbox box({});
  write_text(box.folder() / "own.json", "{");
  const auto check = [&](ExitCode expected, const std::string& line, const char* says) {
    refused(expected, box.call("export " + line), says);
    CHECK_FALSE(fs::exists(box.folder() / "new"));
  };
  check(ExitCode::bad_input, "csv own.json --out own.json", "same file");
  check(ExitCode::output_unwritable, "csv " + suite_atlas + " --out /proc/new", "/proc/new");
  check(ExitCode::output_full, "csv " + suite_atlas + " --out /dev/full", "No space left");
  check(ExitCode::incomplete, "machine " + suite_default + " --out new", "suite default");
}
