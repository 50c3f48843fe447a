#include "tests/e2e/sandbox.h"

using namespace fathom;

namespace {

/// By a command that leaves this file of the sandbox's folder as its result.
std::string copying(const std::string& file) { return "cp " + file + " {out}"; }

/// With files of two times, a result and a baseline's folder.
class Checking : public Sandbox {
 public:
  explicit Checking(std::initializer_list<std::string> probes = {}) : Sandbox(probes) {
    write_text(folder() / "slow", benchmark_file("1050"));
    write_text(folder() / "fast", benchmark_file("1000"));
  }
  const fs::path file = folder() / "result.json";

  /// Checks two commands.
  CapturedRun check(const std::string& base, const std::string& head,
                    const std::string& flags = "") const {
    std::vector<std::string> all{"check", "--base", base, "--head", head};
    for (const std::string& word : words(flags)) all.push_back(word);
    return fathom(all);
  }
  /// Checks two files.
  CapturedRun check_files(const std::string& base, const std::string& head,
                          const std::string& flags = "") const {
    return check(copying(base), copying(head), flags);
  }
  /// Checks the result against the baseline.
  CapturedRun check_stored(const std::string& flags = "") const {
    return call("check result.json --baseline baseline " + flags);
  }
  CapturedRun add() const { return call("baseline add result.json --baseline baseline"); }
  CapturedRun add(const std::string& nanoseconds) const {
    write_text(file, benchmark_file(nanoseconds));
    return add();
  }
  /// The result is of a host with this name.
  void of_host(const std::string& name) const {
    std::string text = benchmark_file();
    write_text(file, text.replace(text.find("\"h\""), 3, "\"" + name + "\""));
  }
  std::string text_of(const char* name) const { return file_text(folder() / name); }
};

}  // namespace

TEST_CASE("fathom check compares two commands and ends as it says") {
  Checking box;
  expect(0, box.check_files("fast", "fast"))
      .first_line("PASS: 1 metric, no regression")
      .says("\n1 metric: 1 unchanged\n", "\n  note: a slowdown below 1 % would have passed\n");
  box.set("GITHUB_STEP_SUMMARY", box.folder() / "step.md");
  expect(1, box.check_files("fast", "slow", "--junit check.xml --github"))
      .complains(", 1 metric again)")
      .says("::error title=Regression::BM_Sort: 1 us to 1.05 us");
  has(box.text_of("check.xml"), "<failure ");
  has(box.text_of("step.md"), "regression");
  expect(0, box.check_files("slow", "fast")).says("improved");
  write_text(box.folder() / "rules.toml",
             "[[metric]]\nname = \"BM_*\"\nthreshold = 0.1\nreason = \"known\"\n"
             "[[metric]]\nname = \"MB_*\"\nignore = true\nreason = \"misspelt\"\n");
  expect(0, box.check_files("fast", "slow", "--config rules.toml"))
      .says("the rule for `MB_*` fits no metric");
}

TEST_CASE("fathom check against a baseline: too few, enough, worse, lost, another machine") {
  Checking box;
  write_text(box.file, benchmark_file("1000"));
  expect(3, box.check_stored()).says("has no run yet: there is no such folder");
  for (const char* time : {"1000", "1001", "999", "1002", "998", "1000.5"})
    expect(0, box.add(time));
  expect(0, box.check_stored());
  expect(2, box.check_stored("result.json")).complains("is given twice");
  write_text(box.file, benchmark_file("1100"));
  expect(3, box.check_stored()).says("give 2 more of the same commit");
  for (const std::string time : {"1101", "1099"})
    write_text(box.folder() / time, benchmark_file(time));
  expect(1, box.check_stored("1101 1099")).first_line("FAIL: 1 regression");
  expect(0, box.add()).says("1 metric; 7 runs of this identity");
  expect(3, box.check_stored()).says("holds what is checked here, which was left out (1 run)");
  box.of_host("i");
  expect(3, box.check_stored()).says("host_name: h and i");
  expect(3, box.check_stored("1101"))
      .says("not all of the results are of one thing: different host_name: i and h");
  write_text(box.file, benchmark_file("1000", "2026-11-21T12:00:00+00:00", "BM_Else"));
  expect(4, box.check_stored());
  expect(0, box.call("history baseline --out out"));
  for (const char* page : {"README.md", "index.html"}) CHECK(fs::exists(box.out() / page));
  // One file that is no run blocks the decision, and prune alone removes it.
  write_text(
      fs::directory_iterator(box.folder() / "baseline")->path() / "2026-0123456789abcdef.json",
      "{\"fathom_baseline\": 1, ");
  expect(2, box.check_stored()).complains("2026-0123456789abcdef.json");
  for (const char* told : {"baseline list --baseline baseline", "history baseline"})
    expect(0, box.call(told)).says("2026-0123456789abcdef.json", "7 runs");
  expect(0, box.call("baseline prune --baseline baseline")).says("1 file removed");
  expect(4, box.check_stored());
}

TEST_CASE("fathom check compares ratios across machines, where that is asked for") {
  Checking box;
  Document run = read_document(FATHOM_RECORDING_FILE);
  for (int i = 0; i < 5; ++i) {
    run.date = "2026-11-2" + std::to_string(i) + "T00:00:00Z";
    write_document(run, box.file);
    expect(0, box.add());
  }
  run.fingerprint.gpu_uuid_hash = "another card";
  run.fingerprint.driver = "590";
  run.date = "2026-11-26T00:00:00Z";
  write_document(run, box.file);
  expect(3, box.check_stored());
  expect(0, box.check_stored("--ratios-only")).never_says(" vs ");  // nothing to tell of any
  // Another suite: it has the identity that ratios have, and no more.
  run.suite = "other";
  write_document(run, box.file);
  expect(3, box.check_stored("--ratios-only")).says("different suite: ").never_says("not known");
  write_text(box.file, benchmark_file());
  expect(2, box.check_stored("--ratios-only")).complains("has no ratio to an opponent");
  // --ratios-only is for files, the other flags are for commands.
  expect(2, box.check("true", "true", "--ratios-only"));
  for (const std::string flag : {"--seed", "--time-limit"})
    expect(2, box.check_stored(flag + " 4")).complains(flag + " is for --base and --head");
}

TEST_CASE("fathom check never passes a replay, and bad input is one sentence and code 2") {
  Checking box;
  Document replay = read_document(FATHOM_RECORDING_FILE);
  replay.source = Source::replay;
  write_document(replay, box.file);
  expect(3, box.check_stored()).says("is a replay");
  expect(2, box.add());
  write_text(box.file, "{");
  expect(2, box.check_stored()).one_line();
  expect(2, box.call("check"));
  // Fresh rounds alone confirm.
  expect(0, box.call("check --help")).never_says("confirmed regression");
  expect(3, box.check("exit 9", "exit 9"));
  expect(2, box.call("baseline lsit"));
}

TEST_CASE(
    "fathom check that ends without a decision says so in every file, over an earlier one's") {
  Checking box;
  const std::array files{"check.xml", "check.md", "check.json"};
  box.set("GITHUB_STEP_SUMMARY", box.folder() / "step.md");
  const auto check = [&](const std::string& command, const std::string& flags = "") {
    for (const char* file : files) write_text(box.folder() / file, "of an earlier check");
    write_text(box.folder() / "step.md", "");
    return box.check(command, command,
                     flags + " --junit check.xml --markdown check.md --json check.json --github");
  };
  const auto everywhere = [&](const std::string& text) {
    for (const char* file : files) {
      has(box.text_of(file), text);
      lacks(box.text_of(file), "of an earlier check");
    }
  };
  expect(3, check("echo why >&2; exit 9"))
      .starts("INCONCLUSIVE: Round 1 of --")
      .says("\n::warning title=Inconclusive::Round 1 of --");
  everywhere("ended with exit status 9; its last words: why.");
  has(box.text_of("step.md"), "exit status 9");
  has(box.text_of("check.json"), "\"exit_code\": 3");
  // The words stay what they are.
  expect(0, check("exit 9", "--inconclusive-passes")).starts("INCONCLUSIVE: ");
  everywhere("exit status 9");
  expect(2, check("true", "--inconclusive-passes")).complains("left no result");
  everywhere("left no result");
  has(box.text_of("check.json"), "\"exit_code\": 2", "\"headline\": \"ERROR: ");
  for (const char* file : {"check.xml", "check.md", "check.json", "step.md"})
    lacks(box.text_of(file), "nconclusive", "INCONCLUSIVE");
  check("kill -9 $PPID");
  everywhere("the check has not ended");
}

TEST_CASE("fathom check fails for a head that cannot run, and for commands that there are not") {
  Checking box;
  const std::string flags = "--junit check.xml --github";
  expect(4, box.check(copying("fast"), "echo 'of no use.' >&2; exit 9", flags))
      .says("failed again after a round of --base",
            "::error title=Missing metric::BM_Sort: the head's rounds fail: Round ");
  has(box.text_of("check.xml"), "<failure ", "its last words: of no use.");
  for (const std::string& base : {copying("fast"), std::string("no-such-build")}) {
    expect(2, box.check(base, "no-such-build", flags))
        .complains("exit status 127")
        .says("::error title=Check ended::Round ");
    has(box.text_of("check.xml"), "type=\"ended\"");
  }
}

TEST_CASE("fathom check measures nothing for a file that cannot be written, or beside old rounds") {
  Checking box;
  for (const std::string flag : {"--junit", "--markdown", "--json"})
    expect(10, box.check("touch began", "touch began", flag + " none/file"));
  box.set("GITHUB_STEP_SUMMARY", box.folder() / "none" / "file");
  expect(10, box.check("touch began", "true", "--github"));
  CHECK(!fs::exists(box.folder() / "began"));
  expect(0, box.check_files("fast", "fast", "--keep out"));
  expect(2, box.check_files("fast", "fast", "--keep out"))
      .complains("holds rounds of an earlier check");
  expect(10, box.check_files("fast", "fast", "--keep fast"))
      .complains("choose another with --keep");
}

TEST_CASE("fathom check ends within its time limit") {
  Checking box;
  const auto check = [&](const std::string& command) {
    return box.check(command, command, "--time-limit 1.5");
  };
  expect(3, check("sleep 0.8; " + copying("fast"))).says("1 of the first 4 rounds took");
  expect(3, check("sleep 60"))
      .says("Round 1 of --", "was ended after 1.5 s, the whole --time-limit");
}

TEST_CASE("What documents and logs hold is no command for a CI server") {
  Checking box;
  const auto harmless = [](const CapturedRun& run) {
    lacks("\n" + run.output + "\n" + run.errors, "\x1b", "\n::error title=pwn");
  };
  box.of_host("::error title=pwn::injected\\u001b[31m\\n::error title=pwn::injected");
  harmless(box.add());
  for (const char* told : {"baseline list --baseline baseline", "history baseline"})
    harmless(box.call(told));
  write_text(box.file, benchmark_file());
  harmless(expect(3, box.check_stored("--github")).says("host_name"));
  const std::string says = "printf 'a\\033[31m##[group]' >&2; ";
  for (const char* end : {"exit 9", "true"})
    harmless(box.check(says + end, says + end, "--github"));
}

TEST_CASE("fathom check starts the probes of two builds together, where both can") {
  Checking box({"first", "second"});
  for (const char* folder : {"build", "old"}) fs::create_directories(box.folder() / folder);
  fs::create_symlink(FATHOM_PROGRAM, box.folder() / "build/fathom");
  // From before the flag: it neither knows it nor names it.
  const fs::path old = box.folder() / "old/fathom";
  write_text(old, std::string("#!/bin/sh\n") +
                      "case \"$*\" in *--help*) exit 0;; *together*) exit 2;; esac\n" + "exec " +
                      FATHOM_PROGRAM + " \"$@\"\n");
  fs::permissions(old, fs::perms::owner_all);
  for (const auto& [base, beside] : {std::pair{"./build", 1}, {"./old", -1}}) {
    fs::remove_all(box.out());
    expect(0, box.check(base, "./build", "--keep out"));
    for (const auto& round : fs::directory_iterator(box.out()))
      CHECK(number_in(round.path() / "logs" / "first.log", "beside") == beside);
  }
}

TEST_CASE("The file of every tool that docs/gate.md lists is judged in paired rounds") {
  Checking box;
  const std::string data = FATHOM_GATE_DATA "/";
  for (const auto& [file, metrics] : {std::pair{"google-benchmark-repetitions.json", 2},
                                      {"hyperfine.json", 2},
                                      {"pytest-benchmark.json", 3},
                                      {"criterion", 2},
                                      {"plain.csv", 2}}) {
    INFO(file);
    const std::string copy = "cp -r " + data + file + " {out}";
    expect(0, box.check(copy, copy))
        .first_line("PASS: " + std::to_string(metrics) + " metrics, no regression");
  }
  // A script finds the place in its environment.
  const std::string by_name = "cp " + data + "plain.csv \"$FATHOM_CHECK_OUT\"";
  expect(0, box.check(by_name, by_name));
  // nvbench's has its samples beside it.
  const std::string samples =
      copying(data + "nvbench.json") + " && cp -r " + data + "nvbench.json-bin {out}-bin";
  expect(0, box.check(samples, samples)).says("3 metrics: 2 unchanged, 1 ignored\n");
}
