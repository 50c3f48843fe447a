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
  CHECK(first_line(same.output) == "PASS: 1 metrics, no regression");
  const fs::path junit = sandbox.folder() / "check.xml", summary = sandbox.folder() / "step.md";
  sandbox.set("GITHUB_STEP_SUMMARY", summary.string());
  const auto worse = sandbox.fathom({"check", "--base", copying(fast), "--head", copying(slow),
                                     "--junit", junit.string(), "--github"});
  CHECK(code(worse) == 1);
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
  CHECK(code(check()) == 3);
  for (const char* time : {"1000", "1001", "999", "1002", "998", "1000.5"}) {
    write_text(file, benchmark_file(time));
    CHECK(code(sandbox.fathom({"baseline", "add", file.string(), "--baseline", baseline})) == 0);
  }
  const auto listed = sandbox.fathom({"baseline", "list", "--baseline", baseline});
  CHECK(listed.output.find("6 runs") != std::string::npos);
  CHECK(code(check()) == 0);
  write_text(file, benchmark_file("1100"));
  CHECK(code(check()) == 1);
  std::string other = benchmark_file("1000");
  write_text(file, other.replace(other.find("\"h\""), 3, "\"i\""));
  const auto refused = check();
  CHECK(code(refused) == 3);
  CHECK(refused.output.find("host_name: h and i") != std::string::npos);
  other = benchmark_file("1000");
  write_text(file, other.replace(other.find("BM_Sort"), 7, "BM_Else"));
  CHECK(code(check()) == 4);
  CHECK(code(sandbox.fathom({"history", baseline, "--out", sandbox.out().string()})) == 0);
  CHECK(fs::exists(sandbox.out() / "README.md"));
  CHECK(code(sandbox.fathom({"baseline", "prune", "--baseline", baseline, "--keep", "5"})) == 0);
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
