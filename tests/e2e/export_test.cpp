// `fathom export` from outside: its streams, files and exit codes.

#include "sandbox.h"

using namespace fathom;

const std::string suite_default = FATHOM_RECORDING_FILE;
const std::string suite_atlas =
    std::filesystem::path(suite_default).parent_path() / "atlas" / "result.json";

TEST_CASE("An export goes to standard output, to a file or through a link, and is one text",
          "[e2e]") {
  Sandbox box({});
  write_text(box.folder() / "target", "old");
  std::filesystem::create_symlink("target", box.folder() / "link");
  for (const std::string format :
       {"machine", "csv", "openmetrics", "bmf", "accelsim", "inductor"}) {
    CAPTURE(format);
    const CapturedRun printed = expect(0, box.fathom({"export", format, suite_atlas})).no_errors();
    CHECK(printed.output.ends_with("\n"));
    expect(0, box.fathom({"export", format, suite_atlas, "--out", "link"})).no_output();
    CHECK(file_text(box.folder() / "target") == printed.output);
  }
  CHECK(std::filesystem::is_symlink(box.folder() / "link"));
}

TEST_CASE("A bad export is one sentence and leaves no file", "[e2e]") {
  Sandbox box({});
  write_text(box.folder() / "broken.json", "{");
  const auto check = [&](std::vector<std::string> arguments, ExitCode expected, const char* says) {
    arguments.insert(arguments.begin(), "export");
    expect(expected, box.fathom(arguments)).is_one_sentence().by_fathom().complains(says);
    CHECK_FALSE(std::filesystem::exists(box.folder() / "new"));
  };
  check({"csv", "none.json", "--out", "new"}, ExitCode::bad_input, "No such file");
  check({"xml", suite_atlas, "--out", "new"}, ExitCode::bad_input, "machine, csv");
  check({"csv", "broken.json", "--out", "new"}, ExitCode::document_malformed, "broken.json");
  check({"csv", "broken.json", "--out", "broken.json"}, ExitCode::bad_input, "same file");
  check({"csv", suite_atlas, "--out", "/proc/new"}, ExitCode::output_unwritable, "/proc/new");
  check({"csv", suite_atlas, "--out", "/dev/full"}, ExitCode::output_full, "No space left");
  for (const char* format : {"machine", "accelsim", "inductor"})
    check({format, suite_default, "--out", "new"}, ExitCode::incomplete, "suite default");
}
