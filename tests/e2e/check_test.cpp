#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "results/document_io.h"
#include "tests/e2e/sandbox.h"

using namespace fathom;
namespace fs = std::filesystem;

namespace {

/// A Google Benchmark file of one benchmark that took so many nanoseconds.
std::string benchmark_file(const std::string& nanoseconds) {
  return "{\"context\": {\"date\": \"2026-11-21T12:00:00+00:00\", \"host_name\": \"h\"}, "
         "\"benchmarks\": [{\"name\": \"BM_Sort\", \"real_time\": " +
         nanoseconds + ", \"time_unit\": \"ns\"}]}\n";
}

std::string copying(const fs::path& file) { return "cp " + file.string() + " {out}"; }

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

bool says(const CapturedRun& run, const std::string& text) {
  return run.output.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("fathom check compares two commands and ends as it says") {
  Sandbox sandbox({});
  const fs::path slow = sandbox.folder() / "slow.json", fast = sandbox.folder() / "fast.json";
  write_text(slow, benchmark_file("1050"));
  write_text(fast, benchmark_file("1000"));
  const auto same = sandbox.fathom({"check", "--base", copying(fast), "--head", copying(fast)});
  CHECK(code(same) == 0);
  CHECK(first_line(same.output) == "PASS: 1 metric, no regression");
  CHECK(says(same, "\n1 metric: 1 unchanged\n"));
  const fs::path junit = sandbox.folder() / "check.xml", summary = sandbox.folder() / "step.md";
  sandbox.set("GITHUB_STEP_SUMMARY", summary.string());
  const auto worse = sandbox.fathom({"check", "--base", copying(fast), "--head", copying(slow),
                                     "--junit", junit.string(), "--github"});
  CHECK(code(worse) == 1);
  CHECK(worse.errors.find(", 1 metric again)") != std::string::npos);
  CHECK(says(worse, "::error title=Regression::BM_Sort: 1 us to 1.05 us"));
  CHECK(read_text(junit).find("<failure ") != std::string::npos);
  CHECK(read_text(summary).find("regression") != std::string::npos);
  const auto better = sandbox.fathom({"check", "--base", copying(slow), "--head", copying(fast)});
  CHECK(code(better) == 0);
  CHECK(says(better, "improved"));
  const fs::path rules = sandbox.folder() / "rules.toml";
  write_text(rules, "[[metric]]\nname = \"BM_*\"\nthreshold = 0.1\nreason = \"known\"\n");
  CHECK(code(sandbox.fathom({"check", "--base", copying(fast), "--head", copying(slow), "--config",
                             rules.string()})) == 0);
}

TEST_CASE("fathom check against a baseline: too few, enough, worse, lost, another machine") {
  Stored stored;
  write_text(stored.file, benchmark_file("1000"));
  const auto none = stored.check();
  CHECK(code(none) == 3);
  CHECK(says(none, "has no run yet: there is no such folder"));
  for (const char* time : {"1000", "1001", "999", "1002", "998", "1000.5"})
    CHECK(code(stored.add(time)) == 0);
  CHECK(says(stored.fathom({"baseline", "list", "--baseline", stored.baseline}), "6 runs"));
  CHECK(code(stored.check()) == 0);
  const auto twice = stored.check({stored.file.string()});
  CHECK(code(twice) == 2);
  CHECK(twice.errors.find("is given twice") != std::string::npos);
  write_text(stored.file, benchmark_file("1100"));
  const auto single = stored.check();
  CHECK(code(single) == 3);
  CHECK(says(single, "give 2 more of the same commit"));
  std::vector<std::string> more;
  for (const char* time : {"1101", "1099"}) {
    more.push_back((stored.folder() / (std::string(time) + ".json")).string());
    write_text(more.back(), benchmark_file(time));
  }
  const auto slower = stored.check(more);
  CHECK(code(slower) == 1);
  CHECK(first_line(slower.output) == "FAIL: 1 regression");
  CHECK(code(stored.add()) == 0);
  const auto added = stored.check();
  CHECK(code(added) == 3);
  CHECK(says(added, "has what is checked itself, which was left out (1 run)"));
  std::string other = benchmark_file("1000");
  write_text(stored.file, other.replace(other.find("\"h\""), 3, "\"i\""));
  const auto refused = stored.check();
  CHECK(code(refused) == 3);
  CHECK(says(refused, "host_name: h and i"));
  const auto mixed = stored.check({more.front()});
  CHECK(code(mixed) == 3);
  CHECK(says(mixed, "not all of the results are of one thing: different host_name: i and h"));
  other = benchmark_file("1000");
  write_text(stored.file, other.replace(other.find("BM_Sort"), 7, "BM_Else"));
  CHECK(code(stored.check()) == 4);
  CHECK(code(stored.fathom({"history", stored.baseline, "--out", stored.out().string()})) == 0);
  CHECK(fs::exists(stored.out() / "README.md"));
  CHECK(fs::exists(stored.out() / "index.html"));
  CHECK(code(stored.fathom({"baseline", "prune", "--baseline", stored.baseline, "--keep", "5"})) ==
        0);
}

TEST_CASE("fathom check compares ratios across machines, where that is asked for") {
  Stored stored;
  Document run = read_document(FATHOM_RECORDING_FILE);
  for (int i = 0; i < 5; ++i) {
    run.date = "2026-11-2" + std::to_string(i) + "T00:00:00Z";
    write_document(run, stored.file);
    CHECK(code(stored.add()) == 0);
  }
  run.fingerprint.gpu_uuid_hash = "another card";
  run.fingerprint.driver = "590";
  run.date = "2026-11-26T00:00:00Z";
  write_document(run, stored.file);
  CHECK(code(stored.check()) == 3);
  const auto same = stored.check({"--ratios-only"});
  CHECK(code(same) == 0);
  CHECK_FALSE(says(same, " vs "));  // nothing to tell of any
  for (Entry& entry : run.entries)
    for (Opponent& opponent : entry.opponents)
      if (opponent.ratio) *opponent.ratio *= 0.9;
  write_document(run, stored.file);
  std::vector<std::string> more{"--ratios-only"};
  for (const char* name : {"second.json", "third.json"}) {
    more.push_back((stored.folder() / name).string());
    write_document(run, more.back());
  }
  const auto slower = stored.check(more);
  CHECK(code(slower) == 1);
  CHECK(says(slower, " vs "));
  CHECK(code(stored.fathom({"check", "--base", "true", "--head", "true", "--ratios-only"})) == 2);
}

TEST_CASE("fathom check never passes a replay, and bad input is one sentence and code 2") {
  Stored sandbox;
  Document replay = read_document(FATHOM_RECORDING_FILE);
  replay.source = Source::replay;
  write_document(replay, sandbox.file);
  const auto replayed = sandbox.check();
  CHECK(code(replayed) == 3);
  CHECK(says(replayed, "is a replay"));
  CHECK(code(sandbox.add()) == 2);
  for (const std::string text : {"", "{", "[[[[", "{\"context\": {}, \"benchmarks\": [{}]}"}) {
    write_text(sandbox.file, text);
    const auto bad = sandbox.check();
    CHECK(code(bad) == 2);
    CHECK(std::count(bad.errors.begin(), bad.errors.end(), '\n') == 1);
  }
  CHECK(code(sandbox.fathom({"check"})) == 2);
  CHECK(code(sandbox.fathom({"check", "--base", "true", "--head", "true"})) == 2);
  CHECK(code(sandbox.fathom({"check", "--base", "exit 9", "--head", "exit 9"})) == 3);
  CHECK(code(sandbox.fathom({"baseline", "lsit"})) == 2);
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
    std::vector<std::string> all{"check",           "--base",  command,        "--head",
                                 command,           "--junit", junit.string(), "--markdown",
                                 markdown.string(), "--json",  json.string(),  "--github"};
    all.insert(all.end(), more.begin(), more.end());
    return sandbox.fathom(all);
  };
  const auto everywhere = [&](const std::string& text) {
    for (const fs::path& file : {junit, markdown, json}) {
      CHECK(read_text(file).find(text) != std::string::npos);
      CHECK(read_text(file).find("of an earlier check") == std::string::npos);
    }
  };
  const auto failed = check("echo why >&2; exit 9");
  CHECK(code(failed) == 3);
  CHECK(first_line(failed.output).find("INCONCLUSIVE: Round 1 of --") == 0);
  CHECK(says(failed, "\n::warning title=Inconclusive::Round 1 of --"));
  everywhere("ended with exit status 9; its last words: why.");
  CHECK(read_text(step).find("exit status 9") != std::string::npos);
  CHECK(read_text(json).find("\"exit_code\": 3") != std::string::npos);
  // The words stay what they are.
  const auto let_pass = check("exit 9", {"--inconclusive-passes"});
  CHECK(code(let_pass) == 0);
  CHECK(first_line(let_pass.output).find("INCONCLUSIVE: ") == 0);
  everywhere("exit status 9");
  const auto no_result = check("true", {"--inconclusive-passes"});
  CHECK(code(no_result) == 2);
  CHECK(no_result.errors.find("left no result") != std::string::npos);
  everywhere("left no result");
  CHECK(read_text(json).find("\"exit_code\": 2") != std::string::npos);
  check("kill -9 $PPID");
  everywhere("the check has not ended");
}

TEST_CASE("fathom check fails for a head that cannot run, and for commands that there are not") {
  Sandbox sandbox({});
  const fs::path fast = sandbox.folder() / "fast.json", junit = sandbox.folder() / "check.xml";
  write_text(fast, benchmark_file("1000"));
  const auto check = [&](const std::string& base, const std::string& head) {
    return sandbox.fathom(
        {"check", "--base", base, "--head", head, "--junit", junit.string(), "--github"});
  };
  const auto broken = check(copying(fast), "echo 'of no use.' >&2; exit 9");
  CHECK(code(broken) == 4);
  CHECK(says(broken, "failed again after a round of --base"));
  CHECK(says(broken, "::error title=Missing metric::BM_Sort: the head's rounds fail: Round "));
  CHECK(read_text(junit).find("<failure ") != std::string::npos);
  CHECK(read_text(junit).find("its last words: of no use.") != std::string::npos);
  for (const char* missing : {"no-such-build", "./no-such-program {out}"}) {
    for (const std::string& base : {copying(fast), std::string(missing)}) {
      const auto mistyped = check(base, missing);
      CHECK(code(mistyped) == 2);
      CHECK(mistyped.errors.find("exit status 127") != std::string::npos);
      CHECK(says(mistyped, "::error title=Check ended::Round "));
      CHECK(read_text(junit).find("type=\"ended\"") != std::string::npos);
    }
  }
}

TEST_CASE("fathom check measures nothing for a file that cannot be written") {
  Sandbox sandbox({});
  const fs::path began = sandbox.folder() / "began", nowhere = sandbox.folder() / "none" / "file";
  for (const char* flag : {"--junit", "--markdown", "--json"}) {
    const auto check = sandbox.fathom({"check", "--base", "touch " + began.string(), "--head",
                                       "touch " + began.string(), flag, nowhere.string()});
    CHECK(code(check) == 10);
    CHECK(!fs::exists(began));
  }
  sandbox.set("GITHUB_STEP_SUMMARY", nowhere.string());
  CHECK(code(sandbox.fathom(
            {"check", "--base", "touch " + began.string(), "--head", "true", "--github"})) == 10);
  CHECK(!fs::exists(began));
}

TEST_CASE("fathom check does not mix its rounds with those of an earlier check") {
  Sandbox sandbox({});
  const fs::path file = sandbox.folder() / "result.json";
  write_text(file, benchmark_file("1000"));
  const auto check = [&] {
    return sandbox.fathom({"check", "--base", copying(file), "--head", copying(file), "--keep",
                           sandbox.out().string()});
  };
  CHECK(code(check()) == 0);
  const auto again = check();
  CHECK(code(again) == 2);
  CHECK(again.errors.find("holds rounds of an earlier check") != std::string::npos);
  const auto nowhere = sandbox.fathom(
      {"check", "--base", copying(file), "--head", copying(file), "--keep", file.string()});
  CHECK(code(nowhere) == 10);
  CHECK(nowhere.errors.find("choose another with --keep") != std::string::npos);
}

TEST_CASE("fathom check ends within its time limit") {
  Sandbox sandbox({});
  const fs::path file = sandbox.folder() / "result.json";
  write_text(file, benchmark_file("1000"));
  const auto check = [&](const std::string& command) {
    return sandbox.fathom({"check", "--base", command, "--head", command, "--time-limit", "1.5"});
  };
  const auto slow = check("sleep 0.8; " + copying(file));
  CHECK(code(slow) == 3);
  CHECK(says(slow, "1 of the first 4 rounds took"));
  const auto hanging = check("sleep 60");
  CHECK(code(hanging) == 3);
  CHECK(says(hanging, "Round 1 of --"));
  CHECK(
      hanging.output.find("was ended after 1.5 s, the lesser of --round-limit and --time-limit") !=
      std::string::npos);
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
  const auto refused = sandbox.check({"--github"});
  CHECK(code(refused) == 3);
  CHECK(says(refused, "host_name"));
  harmless(refused);
  const std::string says = "printf 'a\\033[31m##[group]' >&2; ";
  for (const char* end : {"exit 9", "true"})
    harmless(sandbox.fathom({"check", "--base", says + end, "--head", says + end, "--github"}));
}

TEST_CASE("Of ratios alone nothing else is asked, and of files nothing that is for commands") {
  Stored sandbox;
  CHECK(code(sandbox.add("1000")) == 0);
  const auto none = sandbox.check({"--ratios-only"});
  CHECK(code(none) == 2);
  CHECK(none.errors.find("has no ratio to an opponent") != std::string::npos);
  // Of another suite: of the identity that ratios have, and no more.
  Document recording = read_document(FATHOM_RECORDING_FILE);
  recording.source = Source::measured;
  recording.suite = "other";
  const fs::path other = sandbox.folder() / "other.json";
  write_document(recording, other);
  const std::string ratios = (sandbox.folder() / "ratios").string();
  CHECK(code(sandbox.fathom({"baseline", "add", FATHOM_RECORDING_FILE, "--baseline", ratios})) ==
        0);
  const auto refused =
      sandbox.fathom({"check", other.string(), "--baseline", ratios, "--ratios-only"});
  CHECK(code(refused) == 3);
  CHECK(says(refused, "different suite: "));
  CHECK_FALSE(says(refused, "not known"));
  for (const char* flag : {"--rounds", "--seed", "--time-limit"}) {
    const auto useless = sandbox.check({flag, "4"});
    CHECK(code(useless) == 2);
    CHECK(useless.errors.find(std::string(flag) + " is for --base and --head") !=
          std::string::npos);
  }
}

TEST_CASE("One file that is no run blocks the decision, and prune alone removes it") {
  Stored stored;
  for (const char* time : {"1000", "1001", "999", "1002", "998"})
    CHECK(code(stored.add(time)) == 0);
  write_text(fs::directory_iterator(stored.baseline)->path() / "2026-0123456789abcdef.json",
             "{\"fathom_baseline\": 1, ");
  const auto more = stored.add("1000.5");
  CHECK(code(more) == 0);
  CHECK(says(more, "1 metric; 7 runs of this identity"));
  const auto refused = stored.check();
  CHECK(code(refused) == 2);
  CHECK(refused.errors.find("2026-0123456789abcdef.json") != std::string::npos);
  for (const auto& told : {stored.fathom({"baseline", "list", "--baseline", stored.baseline}),
                           stored.fathom({"history", stored.baseline})}) {
    CHECK(code(told) == 0);
    CHECK(says(told, "2026-0123456789abcdef.json"));
    CHECK(says(told, "6 runs"));
  }
  // As the refusal says.
  const auto pruned = stored.fathom({"baseline", "prune", "--baseline", stored.baseline});
  INFO(pruned.output << pruned.errors);
  CHECK(code(pruned) == 0);
  CHECK(says(pruned, "removed"));
  CHECK(says(pruned, "1 file is gone"));
  CHECK(code(stored.check()) == 0);
}

TEST_CASE("fathom check starts the probes of two builds together, where both can") {
  Sandbox sandbox({"first", "second"});
  const fs::path build = sandbox.folder() / "build", old = sandbox.folder() / "old";
  for (const fs::path& folder : {build, old}) fs::create_directories(folder);
  fs::create_symlink(FATHOM_PROGRAM, build / "fathom");
  // Of before the flag: it neither knows it nor names it.
  write_text(old / "fathom", std::string("#!/bin/sh\n") +
                                 "case \"$*\" in *--help*) exit 0;; *together*) exit 2;; esac\n" +
                                 "exec " + FATHOM_PROGRAM + " \"$@\"\n");
  fs::permissions(old / "fathom", fs::perms::owner_all);
  const auto check = [&](const fs::path& base) {
    return sandbox.fathom({"check", "--base", base.string(), "--head", build.string(), "--keep",
                           sandbox.out().string()});
  };
  const auto both = check(build);
  INFO(both.output << both.errors);
  CHECK(code(both) == 0);
  for (const auto& round : fs::directory_iterator(sandbox.out()))
    CHECK(number_in(round.path() / "logs" / "first.log", "beside") == 1);
  fs::remove_all(sandbox.out());
  const auto one = check(old);
  INFO(one.output << one.errors);
  CHECK(code(one) == 0);
  for (const auto& round : fs::directory_iterator(sandbox.out()))
    CHECK(number_in(round.path() / "logs" / "first.log", "beside") == -1);
}
