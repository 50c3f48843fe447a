#include "tests/e2e/sandbox.h"

using namespace fathom;

namespace {

/// By a command that leaves this file of the sandbox's folder as its result.
std::string copying(const std::string& file) { return "cp " + file + " {out}"; }

CapturedRun check(Sandbox& sandbox, const std::string& base, const std::string& head,
                  std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"check", "--base", base, "--head", head});
  return sandbox.fathom(more);
}
CapturedRun check_file(Sandbox& sandbox, const std::string& base, const std::string& head,
                       std::vector<std::string> more = {}) {
  return check(sandbox, copying(base), copying(head), std::move(more));
}

/// With a result and a baseline's folder.
class Stored : public Sandbox {
 public:
  Stored() : Sandbox({}) {}
  const fs::path file = folder() / "result.json";
  const std::string baseline = (folder() / "baseline").string();

  CapturedRun add() { return fathom({"baseline", "add", file.string(), "--baseline", baseline}); }
  CapturedRun add(const std::string& nanoseconds) {
    write_text(file, benchmark_file(nanoseconds));
    return add();
  }
  CapturedRun check(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"check", file.string(), "--baseline", baseline});
    return fathom(more);
  }
};

}  // namespace

TEST_CASE("fathom check compares two commands and ends as it says") {
  Sandbox sandbox({});
  write_text(sandbox.folder() / "slow", benchmark_file("1050"));
  write_text(sandbox.folder() / "fast", benchmark_file("1000"));
  expect(0, check_file(sandbox, "fast", "fast"))
      .first_line("PASS: 1 metric, no regression")
      .says("\n1 metric: 1 unchanged\n", "\n  note: a slowdown below 1 % would have passed\n");
  const fs::path junit = sandbox.folder() / "check.xml", summary = sandbox.folder() / "step.md";
  sandbox.set("GITHUB_STEP_SUMMARY", summary.string());
  expect(1, check_file(sandbox, "fast", "slow", {"--junit", junit.string(), "--github"}))
      .complains(", 1 metric again)")
      .says("::error title=Regression::BM_Sort: 1 us to 1.05 us");
  has(file_text(junit), "<failure ");
  has(file_text(summary), "regression");
  expect(0, check_file(sandbox, "slow", "fast")).says("improved");
  write_text(sandbox.folder() / "rules.toml",
             "[[metric]]\nname = \"BM_*\"\nthreshold = 0.1\nreason = \"known\"\n");
  expect(0, check_file(sandbox, "fast", "slow", {"--config", "rules.toml"}));
}

TEST_CASE("fathom check against a baseline: too few, enough, worse, lost, another machine") {
  Stored stored;
  write_text(stored.file, benchmark_file("1000"));
  expect(3, stored.check()).says("has no run yet: there is no such folder");
  for (const char* time : {"1000", "1001", "999", "1002", "998", "1000.5"})
    expect(0, stored.add(time));
  expect(0, stored.check());
  expect(2, stored.check({stored.file.string()})).complains("is given twice");
  write_text(stored.file, benchmark_file("1100"));
  expect(3, stored.check()).says("give 2 more of the same commit");
  std::vector<std::string> more;
  for (const char* time : {"1101", "1099"}) {
    more.push_back((stored.folder() / (std::string(time) + ".json")).string());
    write_text(more.back(), benchmark_file(time));
  }
  expect(1, stored.check(more)).first_line("FAIL: 1 regression");
  expect(0, stored.add()).says("1 metric; 7 runs of this identity");
  expect(3, stored.check()).says("holds what is checked here, which was left out (1 run)");
  std::string other = benchmark_file("1000");
  write_text(stored.file, other.replace(other.find("\"h\""), 3, "\"i\""));
  expect(3, stored.check()).says("host_name: h and i");
  expect(3, stored.check({more.front()}))
      .says("not all of the results are of one thing: different host_name: i and h");
  write_text(stored.file, benchmark_file("1000", "2026-11-21T12:00:00+00:00", "BM_Else"));
  expect(4, stored.check());
  expect(0, stored.fathom({"history", stored.baseline, "--out", stored.out().string()}));
  CHECK(fs::exists(stored.out() / "README.md"));
  CHECK(fs::exists(stored.out() / "index.html"));
  // One file that is no run blocks the decision, and prune alone removes it.
  write_text(fs::directory_iterator(stored.baseline)->path() / "2026-0123456789abcdef.json",
             "{\"fathom_baseline\": 1, ");
  expect(2, stored.check()).complains("2026-0123456789abcdef.json");
  for (const auto& told : {stored.fathom({"baseline", "list", "--baseline", stored.baseline}),
                           stored.fathom({"history", stored.baseline})})
    expect(0, told).says("2026-0123456789abcdef.json", "7 runs");
  expect(0, stored.fathom({"baseline", "prune", "--baseline", stored.baseline}))
      .says("1 file removed");
  expect(4, stored.check());
}

TEST_CASE("fathom check compares ratios across machines, where that is asked for") {
  Stored stored;
  Document run = read_document(FATHOM_RECORDING_FILE);
  for (int i = 0; i < 5; ++i) {
    run.date = "2026-11-2" + std::to_string(i) + "T00:00:00Z";
    write_document(run, stored.file);
    expect(0, stored.add());
  }
  run.fingerprint.gpu_uuid_hash = "another card";
  run.fingerprint.driver = "590";
  run.date = "2026-11-26T00:00:00Z";
  write_document(run, stored.file);
  expect(3, stored.check());
  expect(0, stored.check({"--ratios-only"})).never_says(" vs ");  // nothing to tell of any
  // Another suite: it has the identity that ratios have, and no more.
  run.suite = "other";
  write_document(run, stored.file);
  expect(3, stored.check({"--ratios-only"})).says("different suite: ").never_says("not known");
  write_text(stored.file, benchmark_file("1000"));
  expect(2, stored.check({"--ratios-only"})).complains("has no ratio to an opponent");
  // --ratios-only is for files, the other flags are for commands.
  expect(2, check(stored, "true", "true", {"--ratios-only"}));
  for (const char* flag : {"--seed", "--time-limit"})
    expect(2, stored.check({flag, "4"})).complains(std::string(flag) + " is for --base and --head");
}

TEST_CASE("fathom check never passes a replay, and bad input is one sentence and code 2") {
  Stored sandbox;
  Document replay = read_document(FATHOM_RECORDING_FILE);
  replay.source = Source::replay;
  write_document(replay, sandbox.file);
  expect(3, sandbox.check()).says("is a replay");
  expect(2, sandbox.add());
  for (const std::string text : {"", "{", "[[[[", "{\"context\": {}, \"benchmarks\": [{}]}"}) {
    write_text(sandbox.file, text);
    expect(2, sandbox.check()).one_line();
  }
  expect(2, sandbox.fathom({"check"}));
  // Fresh rounds alone confirm.
  expect(0, sandbox.fathom({"check", "--help"})).never_says("confirmed regression");
  expect(2, check(sandbox, "true", "true"));
  expect(3, check(sandbox, "exit 9", "exit 9"));
  expect(2, sandbox.fathom({"baseline", "lsit"}));
}

TEST_CASE(
    "fathom check that ends without a decision says so in every file, over an earlier one's") {
  Sandbox sandbox({});
  const fs::path junit = sandbox.folder() / "check.xml", markdown = sandbox.folder() / "check.md",
                 json = sandbox.folder() / "check.json", step = sandbox.folder() / "step.md";
  sandbox.set("GITHUB_STEP_SUMMARY", step.string());
  const auto check = [&](const std::string& command, std::vector<std::string> more = {}) {
    for (const fs::path& file : {junit, markdown, json}) write_text(file, "of an earlier check");
    write_text(step, "");
    more.insert(more.end(), {"--junit", junit.string(), "--markdown", markdown.string(), "--json",
                             json.string(), "--github"});
    return ::check(sandbox, command, command, more);
  };
  const auto everywhere = [&](const std::string& text) {
    for (const fs::path& file : {junit, markdown, json}) {
      has(file_text(file), text);
      CHECK(file_text(file).find("of an earlier check") == std::string::npos);
    }
  };
  expect(3, check("echo why >&2; exit 9"))
      .starts("INCONCLUSIVE: Round 1 of --")
      .says("\n::warning title=Inconclusive::Round 1 of --");
  everywhere("ended with exit status 9; its last words: why.");
  has(file_text(step), "exit status 9");
  has(file_text(json), "\"exit_code\": 3");
  // The words stay what they are.
  expect(0, check("exit 9", {"--inconclusive-passes"})).starts("INCONCLUSIVE: ");
  everywhere("exit status 9");
  expect(2, check("true", {"--inconclusive-passes"})).complains("left no result");
  everywhere("left no result");
  has(file_text(json), "\"exit_code\": 2", "\"headline\": \"ERROR: ");
  for (const fs::path& file : {junit, markdown, json, step})
    lacks(file_text(file), "nconclusive", "INCONCLUSIVE");
  check("kill -9 $PPID");
  everywhere("the check has not ended");
}

TEST_CASE("fathom check fails for a head that cannot run, and for commands that there are not") {
  Sandbox sandbox({});
  const fs::path junit = sandbox.folder() / "check.xml";
  write_text(sandbox.folder() / "fast", benchmark_file("1000"));
  const auto check = [&](const std::string& base, const std::string& head) {
    return ::check(sandbox, base, head, {"--junit", junit.string(), "--github"});
  };
  expect(4, check(copying("fast"), "echo 'of no use.' >&2; exit 9"))
      .says("failed again after a round of --base",
            "::error title=Missing metric::BM_Sort: the head's rounds fail: Round ");
  has(file_text(junit), "<failure ", "its last words: of no use.");
  for (const char* missing : {"no-such-build", "./no-such-program {out}"}) {
    for (const std::string& base : {copying("fast"), std::string(missing)}) {
      expect(2, check(base, missing))
          .complains("exit status 127")
          .says("::error title=Check ended::Round ");
      has(file_text(junit), "type=\"ended\"");
    }
  }
}

TEST_CASE("fathom check measures nothing for a file that cannot be written, or beside old rounds") {
  Sandbox sandbox({});
  const fs::path began = sandbox.folder() / "began", nowhere = sandbox.folder() / "none" / "file";
  for (const char* flag : {"--junit", "--markdown", "--json"})
    expect(10, check(sandbox, "touch began", "touch began", {flag, nowhere.string()}));
  sandbox.set("GITHUB_STEP_SUMMARY", nowhere.string());
  expect(10, check(sandbox, "touch began", "true", {"--github"}));
  CHECK(!fs::exists(began));
  write_text(sandbox.folder() / "result", benchmark_file("1000"));
  const auto keeping = [&](const std::string& place) {
    return check_file(sandbox, "result", "result", {"--keep", place});
  };
  expect(0, keeping("out"));
  expect(2, keeping("out")).complains("holds rounds of an earlier check");
  expect(10, keeping("result")).complains("choose another with --keep");
}

TEST_CASE("fathom check ends within its time limit") {
  Sandbox sandbox({});
  write_text(sandbox.folder() / "result", benchmark_file("1000"));
  const auto check = [&](const std::string& command) {
    return ::check(sandbox, command, command, {"--time-limit", "1.5"});
  };
  expect(3, check("sleep 0.8; " + copying("result"))).says("1 of the first 4 rounds took");
  expect(3, check("sleep 60"))
      .says("Round 1 of --", "was ended after 1.5 s, the whole --time-limit");
}

TEST_CASE("What documents and logs hold is no command for a CI server") {
  Stored sandbox;
  const std::string hostile =
      "::error title=pwn::injected\\u001b[31m\\n::error title=pwn::injected";
  const auto harmless = [](const CapturedRun& run) {
    for (const std::string& text : {run.output, run.errors}) {
      INFO(text);
      CHECK(text.find('\x1b') == std::string::npos);
      CHECK(("\n" + text).find("\n::error title=pwn") == std::string::npos);
    }
  };
  std::string text = benchmark_file("1000");
  write_text(sandbox.file, text.replace(text.find("\"h\""), 3, "\"" + hostile + "\""));
  harmless(sandbox.add());
  harmless(sandbox.fathom({"baseline", "list", "--baseline", sandbox.baseline}));
  harmless(sandbox.fathom({"history", sandbox.baseline}));
  write_text(sandbox.file, benchmark_file("1000"));
  harmless(expect(3, sandbox.check({"--github"})).says("host_name"));
  const std::string says = "printf 'a\\033[31m##[group]' >&2; ";
  for (const char* end : {"exit 9", "true"})
    harmless(check(sandbox, says + end, says + end, {"--github"}));
}

TEST_CASE("fathom check starts the probes of two builds together, where both can") {
  Sandbox sandbox({"first", "second"});
  const fs::path build = sandbox.folder() / "build", old = sandbox.folder() / "old";
  for (const fs::path& folder : {build, old}) fs::create_directories(folder);
  fs::create_symlink(FATHOM_PROGRAM, build / "fathom");
  // From before the flag: it neither knows it nor names it.
  write_text(old / "fathom", std::string("#!/bin/sh\n") +
                                 "case \"$*\" in *--help*) exit 0;; *together*) exit 2;; esac\n" +
                                 "exec " + FATHOM_PROGRAM + " \"$@\"\n");
  fs::permissions(old / "fathom", fs::perms::owner_all);
  const auto check = [&](const fs::path& base) {
    return ::check(sandbox, base.string(), build.string(), {"--keep", sandbox.out().string()});
  };
  expect(0, check(build));
  for (const auto& round : fs::directory_iterator(sandbox.out()))
    CHECK(number_in(round.path() / "logs" / "first.log", "beside") == 1);
  fs::remove_all(sandbox.out());
  expect(0, check(old));
  for (const auto& round : fs::directory_iterator(sandbox.out()))
    CHECK(number_in(round.path() / "logs" / "first.log", "beside") == -1);
}
