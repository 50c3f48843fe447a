// Outputs that are devices, pipes, links, inputs, or nowhere, and disks that are full, before or
// after measuring: nothing that somebody has is lost.

#include <signal.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "sandbox.h"

namespace fathom {
namespace {

/// The file has a check's answer in it.
void check_told(const Sandbox& box, const char* file) {
  const auto json = nlohmann::json::parse(file_text(box.folder() / file), nullptr, false);
  CHECK((json.is_object() && json.contains("fathom_check")));
}

/// With a result of one benchmark in in.json.
class Box : public Sandbox {
 public:
  explicit Box(std::initializer_list<std::string> probes = {}) : Sandbox(probes) {
    write_text(folder() / "in.json", benchmark_file());
  }
};

TEST_CASE("What goes to a pipe or to standard output is written there once", "[e2e]") {
  const bool paired = GENERATE(false, true);
  Box box;
  const std::string check =
      paired ? "$F check --base 'cp in.json {out}' --head 'cp in.json {out}' --json "
             : "$F check in.json --baseline none --json ";
  const int expected = paired ? 0 : to_int(ExitCode::inconclusive);
  box.shell(check + "/dev/stdout | cat > out.json");
  check_told(box, "out.json");
  expect(expected, box.shell(check + "/dev/stdout > out.json"))
      .complains(paired ? "PASS" : "INCONCLUSIVE");
  check_told(box, "out.json");
  expect(expected, box.shell("mkfifo p; cat p > out.json & " + check +
                             "p; code=$?; wait; test -p p || exit 99; exit $code"));
  check_told(box, "out.json");
}

TEST_CASE("An output that is an input, another output or a stream is refused", "[e2e]") {
  Box box;
  write_text(box.folder() / "torn.json", "{");
  write_text(box.folder() / "rules.toml",
             "[[metric]]\nname = \"BM_*\"\nignore = true\nreason = \"known\"\n");
  expect(0, box.call("baseline add in.json --baseline kept"));
  const fs::path kept =
      fs::directory_iterator(fs::directory_iterator(box.folder() / "kept")->path())->path();
  const auto files = [&] {
    std::map<fs::path, std::string> all;
    for (const auto& file : fs::recursive_directory_iterator(box.folder()))
      if (file.is_regular_file()) all[file.path()] = file_text(file.path());
    return all;
  };
  const auto before = files();
  for (const std::string& line : std::vector<std::string>{
           "in.json --json in.json", "in.json --junit ./in.json", "in.json --markdown in.json",
           "torn.json in.json --json in.json", "in.json --config rules.toml --json rules.toml",
           "in.json --json " + kept.string(), "in.json --json new --junit new"}) {
    CAPTURE(line);
    expect(ExitCode::bad_input, box.call("check --baseline kept " + line))
        .complains("is the same file as")
        .one_line();
    CHECK(files() == before);
  }
  // So is a file that takes standard output, or a step's summary.
  expect(ExitCode::bad_input, box.shell("$F check in.json --baseline none --json x > x"))
      .complains("standard output");
  box.set("GITHUB_STEP_SUMMARY", box.folder() / "in.json");
  expect(ExitCode::bad_input, box.call("check in.json --baseline none --github"));
  CHECK(file_text(box.folder() / "in.json") == benchmark_file());
}

TEST_CASE("A page, a picture, a log and a document are never written through a link", "[e2e]") {
  Sandbox box({"first"});
  const fs::path victim = box.folder() / "victim";
  write_text(victim, "precious");
  const auto write = [&] {
    expect(0, box.run());
    expect(0, box.fathom({"report", FATHOM_RECORDING_FILE, "--out", box.out() / "whole"}));
  };
  write();
  std::vector<fs::path> written;
  for (const auto& file : fs::recursive_directory_iterator(box.out()))
    if (file.is_regular_file()) written.push_back(file.path());
  REQUIRE(written.size() == 6);  // document, log, and page and charts of each report
  written.push_back(box.out() / "parts" / "first.json");  // goes after a run
  for (const fs::path& file : written) {
    fs::remove(file);
    fs::create_directories(file.parent_path());
    fs::create_symlink(victim, file);
  }
  write();
  written.pop_back();
  for (const fs::path& file : written) {
    CAPTURE(file);
    CHECK(fs::is_regular_file(fs::symlink_status(file)));
  }
  CHECK(file_text(victim) == "precious");
}

TEST_CASE("A replay does not replace the recording that it repeats", "[e2e]") {
  Sandbox box({"first"});
  const fs::path recording = box.folder() / "recorded" / "result.json";
  fs::create_directories(recording.parent_path());
  fs::copy(FATHOM_RECORDING_FILE, recording);
  box.set("FATHOM_RECORDING", recording);
  expect(ExitCode::bad_input, box.fathom({"run", "--replay", "--out", "recorded"}));
  CHECK(file_text(recording) == file_text(FATHOM_RECORDING_FILE));
}

TEST_CASE("Closed standard streams are no reason to fail", "[e2e]") {
  Sandbox box({"first"});
  const std::string command =
      GENERATE("list <&-", "list >&-", "list <&- >&- 2>&-", "doctor <&- 2>&-", "run --out out >&-",
               "run --out out <&- >&- 2>&-");
  CAPTURE(command);
  expect(0, box.shell("$F " + command));
  if (command.starts_with("run"))
    CHECK(nlohmann::json::accept(file_text(box.out() / "result.json")));
}

TEST_CASE("A full device ends a command with its code, which still writes its files", "[e2e]") {
  Box box({"first"});
  const std::string check = "$F check in.json --baseline none ";
  for (const std::string& command :
       {check + "--json /dev/full", check + "--junit /dev/full", check + "--markdown /dev/full",
        std::string("$F run --out out > /dev/full"),
        std::string("$F list > /dev/full 2> /dev/full")})
    expect(ExitCode::output_full, box.shell(command));
  box.shell(check + "--json out.json > /dev/full");
  CHECK(fs::is_character_file("/dev/full"));
  check_told(box, "out.json");
  CHECK_FALSE(box.report().empty());
}

TEST_CASE("An answer that has no room on its disk ends with its code", "[e2e]") {
  Box box({"first"});
  expect(0, box.call("baseline add in.json --baseline kept"));
  const std::string command = GENERATE(
      "list", "baseline list --baseline kept", "history kept", "doctor", "--help", "--version",
      "baseline add in.json --baseline kept", "baseline prune --baseline kept",
      "report out/result.json", "run --out out", "predict occupancy --threads 256 --registers 32");
  CAPTURE(command);
  expect(0, box.run());
  expect(ExitCode::output_full, box.shell("$F " + command + " > /dev/full"))
      .complains("standard output")
      .one_line();
  // A reader that went away had what it wanted.
  expect(0, box.shell("{ sleep 0.2; $F " + command + "; echo $? > code; } | true; cat code"))
      .first_line("0")
      .no_errors();
}

TEST_CASE("What errors repeat of arguments, names and rows is shown and not obeyed", "[e2e]") {
  Sandbox box({"first"});
  using Words = std::vector<std::string>;
  const std::string hostile = "a\x1b[31m\u202Eb\u2028c";
  write_text(box.folder() / "rows.csv", "op,bytes," + hostile + "\n");
  write_text(box.folder() / "torn.json", "{\"context\": {}, \"" + hostile + "\": 1}");
  write_text(box.folder() / "in.json",
             benchmark_file("0", "2026-11-21T12:00:00Z", "BM_\\u001b\\u202E\\u2028"));
  for (const Words& words :
       {Words{hostile}, Words{"run", "--" + hostile}, Words{"run", "--probe", hostile},
        Words{"run", "--suite", hostile}, Words{"report", hostile},
        Words{"check", hostile, "--baseline", hostile}, Words{"history", hostile},
        Words{"predict", "shared", "--patterns", "rows.csv"}, Words{"report", "torn.json"},
        Words{"baseline", "add", "in.json", "--baseline", "kept"},
        Words{"check", "in.json", "--baseline", "none", "--markdown", "out", "--junit", "out2"},
        Words{"fleet", "collect", hostile}}) {
    CAPTURE(words);
    const auto run = box.fathom(words);
    std::string all = run.output + run.errors;
    for (const char* file : {"out", "out2"}) all += file_text(box.folder() / file);
    CHECK_FALSE(all.empty());
    for (const char* raw : {"\x1b", "\u202E", "\u2028"}) CHECK(all.find(raw) == std::string::npos);
  }
}

TEST_CASE("An interrupt ends every command with one code", "[e2e]") {
  const int number = GENERATE(SIGTERM, SIGINT, SIGHUP);
  CAPTURE(number);
  Sandbox box({"first"});
  // It waits for a writer for as long as nobody comes.
  const fs::path fifo = box.folder() / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const char* command : {"report ", "check --baseline none ", "predict shared --patterns "}) {
    Background waiting(words(command + fifo.string()));
    std::this_thread::sleep_for(300ms);
    waiting.signal(number);
    CHECK(waiting.wait() == to_int(ExitCode::interrupted));
  }
}

/// `fathom run` into "disk/out" on a file system of `size`, in a mount namespace of its own, which
/// has to find it full; what it left is in "kept" then.
CapturedRun run_on_small_disk(const Sandbox& box, const std::string& size) {
  fs::create_directories(box.folder() / "disk");
  const std::string inside =
      "cd \"$1\" && mount -t tmpfs -o size=" + size + " none disk || exit 99; " + FATHOM_PROGRAM +
      " run --out disk/out; status=$?; rm -f disk/out/parts/*.ballast; cp -r disk/out kept; "
      "exit $status";
  const std::string unshare =
      geteuid() == 0 ? "unshare --mount" : "unshare --map-root-user --mount";
  const CapturedRun run = run_and_capture(
      "/bin/sh",
      {"-c", unshare + " true || exit 99; exec " + unshare + " sh -c '" + inside + "' sh \"$1\"",
       "sh", box.folder()},
      60s);
  if (code(run) == 99) SKIP("this user cannot mount a small file system");
  return expect(ExitCode::output_full, run);
}

TEST_CASE("A folder that cannot be made is refused before anything is measured", "[e2e]") {
  Sandbox box({"first"});
  write_text(box.folder() / "file", "");
  for (const std::string out : {"file", "file/below", "/proc/fathom"})
    expect(ExitCode::output_unwritable, box.fathom({"run", "--out", out}))
        .complains(out, "--out")
        .never_says("Measuring");
}

TEST_CASE("A full disk is refused before anything is measured", "[e2e]") {
  Sandbox box({"first"});
  has(run_on_small_disk(box, "4m").errors, "MiB free");
  CHECK_FALSE(fs::exists(box.folder() / "kept" / "logs" / "first.log"));
}

TEST_CASE("A disk that becomes full during the run costs no results", "[e2e]") {
  Sandbox box({"first", "hog"});
  has(run_on_small_disk(box, "20m").errors, "parts");
  for (const char* probe : {"first", "hog"}) {
    const Document part =
        read_document(box.folder() / "kept" / "parts" / (std::string(probe) + ".json"));
    CHECK(entries_of(part, probe) == 2);
  }
}

}  // namespace
}  // namespace fathom
