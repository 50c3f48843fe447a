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

}  // namespace

TEST_CASE("fathom check compares two commands and ends as it says") {
  Sandbox sandbox({});
  const fs::path slow = sandbox.folder() / "slow.json", fast = sandbox.folder() / "fast.json";
  write_text(slow, benchmark_file("1050"));
  write_text(fast, benchmark_file("1000"));
  const auto same = sandbox.fathom({"check", "--base", copying(fast), "--head", copying(fast)});
  CHECK(code(same) == 0);
  CHECK(first_line(same.output) == "PASS: 1 metric, no regression");
  CHECK(same.output.find("\n1 metric: 1 unchanged\n") != std::string::npos);
  const fs::path junit = sandbox.folder() / "check.xml", summary = sandbox.folder() / "step.md";
  sandbox.set("GITHUB_STEP_SUMMARY", summary.string());
  const auto worse = sandbox.fathom({"check", "--base", copying(fast), "--head", copying(slow),
                                     "--junit", junit.string(), "--github"});
  CHECK(code(worse) == 1);
  CHECK(worse.errors.find(", 1 metric again)") != std::string::npos);
  CHECK(worse.output.find("::error title=Regression::BM_Sort: 1 us to 1.05 us") !=
        std::string::npos);
  CHECK(read_text(junit).find("<failure ") != std::string::npos);
  CHECK(read_text(summary).find("regression") != std::string::npos);
  const auto better = sandbox.fathom({"check", "--base", copying(slow), "--head", copying(fast)});
  CHECK(code(better) == 0);
  CHECK(better.output.find("improved") != std::string::npos);
  const fs::path rules = sandbox.folder() / "rules.toml";
  write_text(rules, "[[metric]]\nname = \"BM_*\"\nthreshold = 0.1\nreason = \"known\"\n");
  CHECK(code(sandbox.fathom({"check", "--base", copying(fast), "--head", copying(slow), "--config",
                             rules.string()})) == 0);
}

TEST_CASE("fathom check against a baseline: too few, enough, worse, lost, another machine") {
  Sandbox sandbox({});
  const fs::path file = sandbox.folder() / "result.json";
  const std::string baseline = (sandbox.folder() / "baseline").string();
  write_text(file, benchmark_file("1000"));
  const auto check = [&] {
    return sandbox.fathom({"check", file.string(), "--baseline", baseline});
  };
  const auto none = check();
  CHECK(code(none) == 3);
  CHECK(none.output.find("has no run yet: there is no such folder") != std::string::npos);
  for (const char* time : {"1000", "1001", "999", "1002", "998", "1000.5"}) {
    write_text(file, benchmark_file(time));
    CHECK(code(sandbox.fathom({"baseline", "add", file.string(), "--baseline", baseline})) == 0);
  }
  const auto listed = sandbox.fathom({"baseline", "list", "--baseline", baseline});
  CHECK(listed.output.find("6 runs") != std::string::npos);
  CHECK(code(check()) == 0);
  const auto twice =
      sandbox.fathom({"check", file.string(), file.string(), "--baseline", baseline});
  CHECK(code(twice) == 2);
  CHECK(twice.errors.find("is given twice") != std::string::npos);
  write_text(file, benchmark_file("1100"));
  const auto single = check();
  CHECK(code(single) == 3);
  CHECK(single.output.find("give 2 more of the same commit") != std::string::npos);
  std::vector<std::string> three{"check", file.string()};
  for (const char* time : {"1101", "1099"}) {
    const fs::path more = sandbox.folder() / (std::string(time) + ".json");
    write_text(more, benchmark_file(time));
    three.push_back(more.string());
  }
  three.insert(three.end(), {"--baseline", baseline});
  const auto slower = sandbox.fathom(three);
  CHECK(code(slower) == 1);
  CHECK(first_line(slower.output) == "FAIL: 1 regression");
  CHECK(code(sandbox.fathom({"baseline", "add", file.string(), "--baseline", baseline})) == 0);
  const auto added = check();
  CHECK(code(added) == 3);
  CHECK(added.output.find("has what is checked itself, which was left out (1 run)") !=
        std::string::npos);
  std::string other = benchmark_file("1000");
  write_text(file, other.replace(other.find("\"h\""), 3, "\"i\""));
  const auto refused = check();
  CHECK(code(refused) == 3);
  CHECK(refused.output.find("host_name: h and i") != std::string::npos);
  const fs::path second = sandbox.folder() / "second.json";
  write_text(second, benchmark_file("1000"));
  const auto mixed =
      sandbox.fathom({"check", file.string(), second.string(), "--baseline", baseline});
  CHECK(code(mixed) == 3);
  CHECK(
      mixed.output.find("not all of the results are of one thing: different host_name: i and h") !=
      std::string::npos);
  other = benchmark_file("1000");
  write_text(file, other.replace(other.find("BM_Sort"), 7, "BM_Else"));
  CHECK(code(check()) == 4);
  CHECK(code(sandbox.fathom({"history", baseline, "--out", sandbox.out().string()})) == 0);
  CHECK(fs::exists(sandbox.out() / "README.md"));
  CHECK(code(sandbox.fathom({"baseline", "prune", "--baseline", baseline, "--keep", "5"})) == 0);
}

TEST_CASE("fathom check compares ratios across machines, where that is asked for") {
  Sandbox sandbox({});
  const std::string baseline = (sandbox.folder() / "baseline").string();
  const fs::path file = sandbox.folder() / "result.json";
  Document run = read_document(FATHOM_RECORDING_FILE);
  for (int i = 0; i < 5; ++i) {
    run.date = "2026-11-2" + std::to_string(i) + "T00:00:00Z";
    write_document(run, file);
    CHECK(code(sandbox.fathom({"baseline", "add", file.string(), "--baseline", baseline})) == 0);
  }
  run.fingerprint.gpu_uuid_hash = "another card";
  run.fingerprint.driver = "590";
  run.date = "2026-11-26T00:00:00Z";
  write_document(run, file);
  const std::vector<std::string> check{"check", file.string(), "--baseline", baseline};
  CHECK(code(sandbox.fathom(check)) == 3);
  std::vector<std::string> ratios = check;
  ratios.push_back("--ratios-only");
  const auto same = sandbox.fathom(ratios);
  CHECK(code(same) == 0);
  CHECK(same.output.find(" vs ") == std::string::npos);  // nothing to tell of any
  for (Entry& entry : run.entries)
    for (Opponent& opponent : entry.opponents)
      if (opponent.ratio) *opponent.ratio *= 0.9;
  write_document(run, file);
  for (const char* name : {"second.json", "third.json"}) {
    write_document(run, sandbox.folder() / name);
    ratios.push_back((sandbox.folder() / name).string());
  }
  const auto slower = sandbox.fathom(ratios);
  CHECK(code(slower) == 1);
  CHECK(slower.output.find(" vs ") != std::string::npos);
  CHECK(code(sandbox.fathom({"check", "--base", "true", "--head", "true", "--ratios-only"})) == 2);
}

TEST_CASE("fathom check never passes a replay, and bad input is one sentence and code 2") {
  Sandbox sandbox({});
  const std::string baseline = (sandbox.folder() / "baseline").string();
  const fs::path file = sandbox.folder() / "result.json";
  Document replay = read_document(FATHOM_RECORDING_FILE);
  replay.source = Source::replay;
  write_document(replay, file);
  const auto replayed = sandbox.fathom({"check", file.string(), "--baseline", baseline});
  CHECK(code(replayed) == 3);
  CHECK(replayed.output.find("is a replay") != std::string::npos);
  CHECK(code(sandbox.fathom({"baseline", "add", file.string(), "--baseline", baseline})) == 2);
  for (const std::string text : {"", "{", "[[[[", "{\"context\": {}, \"benchmarks\": [{}]}"}) {
    write_text(file, text);
    const auto bad = sandbox.fathom({"check", file.string(), "--baseline", baseline});
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
  CHECK(failed.output.find("\n::warning title=Inconclusive::Round 1 of --") != std::string::npos);
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
  CHECK(broken.output.find("failed again after a round of --base") != std::string::npos);
  CHECK(broken.output.find("::error title=Missing metric::BM_Sort: the head's rounds fail: Round ") !=
        std::string::npos);
  CHECK(read_text(junit).find("<failure ") != std::string::npos);
  CHECK(read_text(junit).find("its last words: of no use.") != std::string::npos);
  for (const char* missing : {"no-such-build", "./no-such-program {out}"}) {
    for (const std::string& base : {copying(fast), std::string(missing)}) {
      const auto mistyped = check(base, missing);
      CHECK(code(mistyped) == 2);
      CHECK(mistyped.errors.find("exit status 127") != std::string::npos);
      CHECK(mistyped.output.find("::error title=Check ended::Round ") != std::string::npos);
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
  CHECK(slow.output.find("1 of the first 4 rounds took") != std::string::npos);
  const auto hanging = check("sleep 60");
  CHECK(code(hanging) == 3);
  CHECK(hanging.output.find("Round 1 of --") != std::string::npos);
  CHECK(
      hanging.output.find("was ended after 1.5 s, the lesser of --round-limit and --time-limit") !=
      std::string::npos);
}

TEST_CASE("What documents and logs hold is no command for a CI server") {
  Sandbox sandbox({});
  const fs::path file = sandbox.folder() / "result.json";
  const std::string baseline = (sandbox.folder() / "baseline").string();
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
  write_text(file, text.replace(text.find("\"h\""), 3, "\"" + hostile + "\""));
  harmless(sandbox.fathom({"baseline", "add", file.string(), "--baseline", baseline}));
  harmless(sandbox.fathom({"baseline", "list", "--baseline", baseline}));
  harmless(sandbox.fathom({"history", baseline}));
  write_text(file, benchmark_file("1000"));
  const auto refused = sandbox.fathom({"check", file.string(), "--baseline", baseline, "--github"});
  CHECK(code(refused) == 3);
  CHECK(refused.output.find("host_name") != std::string::npos);
  harmless(refused);
  const std::string says = "printf 'a\\033[31m##[group]' >&2; ";
  for (const char* end : {"exit 9", "true"})
    harmless(sandbox.fathom({"check", "--base", says + end, "--head", says + end, "--github"}));
}

TEST_CASE("Of ratios alone nothing else is asked, and of files nothing that is for commands") {
  Sandbox sandbox({});
  const fs::path file = sandbox.folder() / "result.json";
  const std::string baseline = (sandbox.folder() / "baseline").string();
  write_text(file, benchmark_file("1000"));
  CHECK(code(sandbox.fathom({"baseline", "add", file.string(), "--baseline", baseline})) == 0);
  const auto none =
      sandbox.fathom({"check", file.string(), "--baseline", baseline, "--ratios-only"});
  CHECK(code(none) == 2);
  CHECK(none.errors.find("has no ratio to an opponent") != std::string::npos);
  // Of another suite: of the identity that ratios have, and no more.
  Document recording = read_document(FATHOM_RECORDING_FILE);
  recording.source = Source::measured;
  recording.suite = "other";
  const fs::path other = sandbox.folder() / "other.json";
  write_document(recording, other);
  const std::string ratios = (sandbox.folder() / "ratios").string();
  CHECK(code(sandbox.fathom({"baseline", "add", FATHOM_RECORDING_FILE, "--baseline", ratios})) == 0);
  const auto refused = sandbox.fathom({"check", other.string(), "--baseline", ratios, "--ratios-only"});
  CHECK(code(refused) == 3);
  CHECK(refused.output.find("different suite: ") != std::string::npos);
  CHECK(refused.output.find("not known") == std::string::npos);
  for (const char* flag : {"--rounds", "--seed", "--time-limit"}) {
    const auto useless =
        sandbox.fathom({"check", file.string(), "--baseline", baseline, flag, "4"});
    CHECK(code(useless) == 2);
    CHECK(useless.errors.find(std::string(flag) + " is for --base and --head") != std::string::npos);
  }
}

TEST_CASE("One file that is no run blocks the decision, and prune alone removes it") {
  Sandbox sandbox({});
  const fs::path file = sandbox.folder() / "result.json", folder = sandbox.folder() / "baseline";
  const std::string baseline = folder.string();
  const auto add = [&](const char* time) {
    write_text(file, benchmark_file(time));
    return sandbox.fathom({"baseline", "add", file.string(), "--baseline", baseline});
  };
  for (const char* time : {"1000", "1001", "999", "1002", "998"}) CHECK(code(add(time)) == 0);
  write_text(fs::directory_iterator(folder)->path() / "2026-0123456789abcdef.json",
             "{\"fathom_baseline\": 1, ");
  const auto more = add("1000.5");
  CHECK(code(more) == 0);
  CHECK(more.output.find("1 metric; 7 runs of this identity") != std::string::npos);
  const auto check = [&] {
    return sandbox.fathom({"check", file.string(), "--baseline", baseline});
  };
  const auto refused = check();
  CHECK(code(refused) == 2);
  CHECK(refused.errors.find("2026-0123456789abcdef.json") != std::string::npos);
  for (const auto& told : {sandbox.fathom({"baseline", "list", "--baseline", baseline}),
                           sandbox.fathom({"history", baseline})}) {
    CHECK(code(told) == 0);
    CHECK(told.output.find("2026-0123456789abcdef.json") != std::string::npos);
    CHECK(told.output.find("6 runs") != std::string::npos);
  }
  // As the refusal says.
  const auto pruned = sandbox.fathom({"baseline", "prune", "--baseline", baseline});
  INFO(pruned.output << pruned.errors);
  CHECK(code(pruned) == 0);
  CHECK(pruned.output.find("removed") != std::string::npos);
  CHECK(pruned.output.find("1 file is gone") != std::string::npos);
  CHECK(code(check()) == 0);
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
