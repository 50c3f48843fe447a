// Outputs that are devices, pipes, links, inputs, or nowhere: nothing that somebody has is lost.

#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "results/error.h"
#include "sandbox.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string benchmark_file(const std::string& time = "1000",
                           const std::string& date = "2026-11-21T12:00:00+00:00",
                           const std::string& name = "BM_Sort") {
  return "{\"context\": {\"date\": \"" + date +
         "\", \"host_name\": \"h\"}, \"benchmarks\": [{\"name\": \"" + name +
         "\", \"real_time\": " + time + ", \"time_unit\": \"ns\"}]}\n";
}

/// `fathom` in the sandbox's folder, by a shell: "$F list <&-".
CapturedRun shell(const Sandbox& box, const std::string& command) {
  return run_and_capture(
      "/bin/sh", {"-c", "cd \"$1\"; F=$2; " + command, "sh", box.folder(), FATHOM_PROGRAM}, 60s);
}

bool is_json_of_a_check(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() && json.contains("fathom_check");
}

TEST_CASE("A device stays a device, and what is written to it is lost or fails as it says",
          "[e2e]") {
  const std::string flag = GENERATE("--json", "--junit", "--markdown");
  Sandbox box({});
  write_text(box.folder() / "in.json", benchmark_file());
  const fs::path device = box.folder() / "null";
  if (mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) SKIP("this user makes no devices");
  const std::vector<std::string> check{"check", "in.json", "--baseline", "none", flag, "null"};
  CHECK(code(box.fathom(check)) == to_int(ExitCode::inconclusive));
  CHECK(fs::is_character_file(fs::symlink_status(device)));
  const auto full = box.fathom({"check", "in.json", "--baseline", "none", flag, "/dev/full"});
  CHECK(code(full) == to_int(ExitCode::output_full));
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("What goes to a pipe or to standard output is written there once", "[e2e]") {
  const bool paired = GENERATE(false, true);
  Sandbox box({});
  write_text(box.folder() / "in.json", benchmark_file());
  const std::string check =
      paired ? "$F check --base 'cp in.json {out}' --head 'cp in.json {out}' --json "
             : "$F check in.json --baseline none --json ";
  const int expected = paired ? 0 : to_int(ExitCode::inconclusive);
  const auto piped = shell(box, check + "/dev/stdout | cat > out.json");
  CHECK(is_json_of_a_check(read_text(box.folder() / "out.json")));
  const auto redirected = shell(box, check + "/dev/stdout > out.json");
  CHECK(code(redirected) == expected);
  CHECK(is_json_of_a_check(read_text(box.folder() / "out.json")));
  CHECK(redirected.errors.find(paired ? "PASS" : "INCONCLUSIVE") != std::string::npos);
  const auto fifo = shell(box, "mkfifo p; cat p > out.json & " + check +
                                   "p; code=$?; wait; test -p p || exit 99; exit $code");
  CHECK(code(fifo) == expected);
  CHECK(is_json_of_a_check(read_text(box.folder() / "out.json")));
}

TEST_CASE("An output file behind a link is replaced in one step, and the link stays", "[e2e]") {
  Sandbox box({});
  write_text(box.folder() / "in.json", benchmark_file());
  fs::create_directories(box.folder() / "place");
  const fs::path target = box.folder() / "place" / "out.json", link = box.folder() / "link";
  const bool there = GENERATE(true, false);
  if (there) write_text(target, "earlier");
  fs::create_symlink("place/out.json", link);
  CHECK(code(box.fathom({"check", "in.json", "--baseline", "none", "--json", "link"})) == 3);
  CHECK(fs::is_symlink(link));
  CHECK(fs::is_regular_file(fs::symlink_status(target)));
  CHECK(is_json_of_a_check(read_text(target)));
}

TEST_CASE("An output that is an input or another output is refused, and nothing is touched",
          "[e2e]") {
  Sandbox box({});
  const std::string first = benchmark_file("1000"), second = benchmark_file("1001"),
                    rules = "[[metric]]\nname = \"BM_*\"\nignore = true\nreason = \"known\"\n";
  write_text(box.folder() / "in.json", first);
  write_text(box.folder() / "other.json", second);
  write_text(box.folder() / "torn.json", "{");
  write_text(box.folder() / "rules.toml", rules);
  fs::create_hard_link(box.folder() / "in.json", box.folder() / "hard.json");
  fs::create_symlink("in.json", box.folder() / "soft.json");
  REQUIRE(code(box.fathom({"baseline", "add", "in.json", "--baseline", "kept"})) == 0);
  const fs::path kept =
      fs::directory_iterator(fs::directory_iterator(box.folder() / "kept")->path())->path();
  const std::string run = read_text(kept);
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{"in.json", "--json", "in.json"}, Words{"in.json", "--junit", "./in.json"},
        Words{"in.json", "--markdown", "hard.json"}, Words{"in.json", "--json", "soft.json"},
        Words{"torn.json", "other.json", "--json", "other.json"},
        Words{"in.json", "--config", "rules.toml", "--json", "rules.toml"},
        Words{"in.json", "--json", kept.string()},
        Words{"in.json", "--json", "new", "--junit", "new"},
        Words{"in.json", "--json", "new", "--junit",
              "../" + box.folder().filename().string() + "/new"}}) {
    CAPTURE(words);
    Words all{"check", "--baseline", "kept"};
    all.insert(all.end(), words.begin(), words.end());
    const auto refused = box.fathom(all);
    CHECK(code(refused) == to_int(ExitCode::bad_input));
    CHECK(refused.errors.find("is the same file as") != std::string::npos);
    CHECK(std::count(refused.errors.begin(), refused.errors.end(), '\n') == 1);
    CHECK(read_text(box.folder() / "in.json") == first);
    CHECK(read_text(box.folder() / "other.json") == second);
    CHECK(read_text(box.folder() / "rules.toml") == rules);
    CHECK(read_text(kept) == run);
    CHECK_FALSE(fs::exists(box.folder() / "new"));
    CHECK(fs::is_symlink(box.folder() / "soft.json"));
  }
}

TEST_CASE("A file that takes standard output is no other output as well", "[e2e]") {
  Sandbox box({});
  write_text(box.folder() / "in.json", benchmark_file());
  const auto both = shell(box, "$F check in.json --baseline none --json x > x");
  CHECK(code(both) == to_int(ExitCode::bad_input));
  CHECK(both.errors.find("standard output") != std::string::npos);
}

TEST_CASE("A summary of a step that is an input is refused too", "[e2e]") {
  Sandbox box({});
  write_text(box.folder() / "in.json", benchmark_file());
  box.set("GITHUB_STEP_SUMMARY", (box.folder() / "in.json").string());
  const auto refused = box.fathom({"check", "in.json", "--baseline", "none", "--github"});
  CHECK(code(refused) == to_int(ExitCode::bad_input));
  CHECK(read_text(box.folder() / "in.json") == benchmark_file());
}

TEST_CASE("A page, a picture, a log and a document are never written through a link", "[e2e]") {
  Sandbox box({"first"});
  const fs::path victim = box.folder() / "victim";
  write_text(victim, "precious");
  const auto plant = [&](const fs::path& place) {
    fs::create_directories(place.parent_path());
    fs::create_symlink(victim, place);
  };
  const auto is_own = [&](const fs::path& place) {
    CAPTURE(place);
    CHECK(fs::is_regular_file(fs::symlink_status(place)));
    CHECK(read_text(victim) == "precious");
  };
  for (const char* name : {"result.json", "report/README.md", "logs/first.log", "parts/first.json"})
    plant(box.out() / name);
  REQUIRE(code(box.run()) == 0);
  for (const char* name : {"result.json", "report/README.md", "logs/first.log"})
    is_own(box.out() / name);
  // Each file of a report of the recording, pages and pictures.
  REQUIRE(code(box.fathom({"report", FATHOM_RECORDING_FILE, "--out", "whole"})) == 0);
  std::vector<fs::path> names;
  for (const auto& file : fs::directory_iterator(box.folder() / "whole"))
    names.push_back(file.path().filename());
  REQUIRE_FALSE(names.empty());
  for (const fs::path& name : names) plant(box.folder() / "linked" / name);
  REQUIRE(code(box.fathom({"report", FATHOM_RECORDING_FILE, "--out", "linked"})) == 0);
  for (const fs::path& name : names) is_own(box.folder() / "linked" / name);
}

TEST_CASE("A replay does not replace the recording that it repeats", "[e2e]") {
  Sandbox box({"first"});
  const fs::path recording = box.folder() / "recorded" / "result.json";
  fs::create_directories(recording.parent_path());
  fs::copy(FATHOM_RECORDING_FILE, recording);
  box.set("FATHOM_RECORDING", recording);
  const auto refused = box.fathom({"run", "--replay", "--out", "recorded"});
  CHECK(code(refused) == to_int(ExitCode::bad_input));
  CHECK(read_text(recording) == read_text(FATHOM_RECORDING_FILE));
}

TEST_CASE("Closed standard streams are no reason to fail", "[e2e]") {
  Sandbox box({"first"});
  const std::string command =
      GENERATE("list <&-", "list >&-", "list <&- >&- 2>&-", "doctor <&- 2>&-", "run --out a >&-",
               "run --out b <&- >&- 2>&-");
  CAPTURE(command);
  const auto run = shell(box, "$F " + command);
  INFO(run.errors);
  CHECK(code(run) == 0);
  for (const char* out : {"a", "b"}) {
    if (command.find(std::string("--out ") + out) == std::string::npos) continue;
    CHECK(fs::exists(box.folder() / out / "result.json"));
    CHECK(nlohmann::json::accept(read_text(box.folder() / out / "result.json")));
  }
}

TEST_CASE("An answer that has no room on its disk ends with its code", "[e2e]") {
  Sandbox box({"first"});
  write_text(box.folder() / "in.json", benchmark_file());
  REQUIRE(code(box.fathom({"baseline", "add", "in.json", "--baseline", "kept"})) == 0);
  const std::string command = GENERATE(
      "list", "baseline list --baseline kept", "history kept", "doctor", "--help", "--version",
      "baseline add in.json --baseline kept", "baseline prune --baseline kept",
      "report out/result.json", "run --out out", "predict occupancy --threads 256 --registers 32");
  CAPTURE(command);
  REQUIRE(code(box.run()) == 0);
  const auto full = shell(box, "$F " + command + " > /dev/full");
  CHECK(code(full) == to_int(ExitCode::output_full));
  CHECK(full.errors.find("standard output") != std::string::npos);
  CHECK(std::count(full.errors.begin(), full.errors.end(), '\n') == 1);
  // A reader that went away had what it wanted.
  const auto gone =
      shell(box, "{ sleep 0.2; $F " + command + "; echo $? > code; } | true; cat code");
  CHECK(gone.output == "0\n");
  CHECK(gone.errors.empty());
}

TEST_CASE("A check on a full disk still writes its files, and a run its report", "[e2e]") {
  Sandbox box({"first"});
  write_text(box.folder() / "in.json", benchmark_file());
  shell(box, "$F check in.json --baseline none --json out.json > /dev/full");
  CHECK(is_json_of_a_check(read_text(box.folder() / "out.json")));
  shell(box, "$F run --out out > /dev/full");
  CHECK(fs::exists(box.out() / "report" / "README.md"));
}

TEST_CASE("Dates that no clock shows and times that no clock counts are bad input", "[e2e]") {
  Sandbox box({});
  const auto refused = [&](const std::string& text, const std::string& said) {
    write_text(box.folder() / "in.json", text);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"check", "in.json", "--baseline", "kept"},
          std::vector<std::string>{"baseline", "add", "in.json", "--baseline", "kept"}}) {
      const auto run = box.fathom(words);
      CHECK(code(run) == to_int(ExitCode::bad_input));
      CHECK(run.errors.find(said) != std::string::npos);
      CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
    }
    CHECK_FALSE(fs::exists(box.folder() / "kept"));
  };
  for (const char* date : {"2026-13-45T99:99:99Z", "", "9999-01-01T00:00:00Z",
                           "2026-02-30T00:00:00Z", "2026-11-21T12:00:00+99:99", "yesterday"}) {
    CAPTURE(date);
    refused(benchmark_file("1000", date), "/context/date is");
  }
  for (const char* time : {"1e-300", "-1e-300", "1e-30"}) {
    CAPTURE(time);
    refused(benchmark_file(time), "/benchmarks/0/real_time has a sample of");
  }
  std::string document = read_text(FATHOM_RECORDING_FILE);
  const auto at = document.find("\"date\": \"") + 9;
  refused(document.replace(at, 20, "2026-13-45T99:99:99Z"), "/context/date is");
  CHECK(code(box.fathom({"report", "in.json", "--out", "rep"})) ==
        to_int(ExitCode::document_malformed));
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
    for (const char* file : {"out", "out2"}) all += read_text(box.folder() / file);
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
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"report", fifo.string()},
        std::vector<std::string>{"check", fifo.string(), "--baseline", "none"},
        std::vector<std::string>{"predict", "shared", "--patterns", fifo.string()}}) {
    Background waiting(words);
    std::this_thread::sleep_for(300ms);
    waiting.signal(number);
    CHECK(waiting.wait() == to_int(ExitCode::interrupted));
  }
}

TEST_CASE("What a killed run left half written goes with the next one", "[e2e]") {
  Sandbox box({"first"});
  write_text(box.folder() / "in.json", benchmark_file());
  REQUIRE(code(box.fathom({"baseline", "add", "in.json", "--baseline", "kept"})) == 0);
  const fs::path group = fs::directory_iterator(box.folder() / "kept")->path();
  const fs::path kept = fs::directory_iterator(group)->path();
  REQUIRE(code(box.run()) == 0);
  const std::vector<fs::path> torn{
      box.folder() / "out.json.4711-0badcafe.tmp", box.out() / "result.json.1-00000000.tmp",
      box.out() / "report" / "README.md.99999-ffffffff.tmp", kept.string() + ".4711-0badcafe.tmp"};
  for (const fs::path& file : torn) write_text(file, "{");
  // Nobody's but their owners' to remove.
  const std::vector<fs::path> foreign{box.folder() / "out.json.tmp",
                                      box.folder() / "other.json.4711-0badcafe.tmp",
                                      group / "notes.tmp"};
  for (const fs::path& file : foreign) write_text(file, "x");
  REQUIRE(code(box.run()) == 0);
  write_text(box.folder() / "in.json", benchmark_file("1001"));
  REQUIRE(code(box.fathom({"baseline", "add", "in.json", "--baseline", "kept"})) == 0);
  REQUIRE(code(box.fathom({"check", "in.json", "--baseline", "kept", "--json", "out.json"})) == 3);
  for (const fs::path& file : torn) {
    CAPTURE(file);
    CHECK_FALSE(fs::exists(file));
  }
  for (const fs::path& file : foreign) CHECK(fs::exists(file));
}

}  // namespace
}  // namespace fathom
