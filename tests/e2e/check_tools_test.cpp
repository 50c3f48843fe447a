#include "tests/e2e/sandbox.h"

using namespace fathom;
namespace fs = std::filesystem;

// `fathom check --base CMD --head CMD` with commands that leave another tool's file.

namespace {

const fs::path data = FATHOM_GATE_DATA;

std::string copying(const fs::path& file) { return "cp -r " + file.string() + " {out}"; }

std::string csv(const std::string& lines) { return "name,unit,better,sample\n" + lines; }

/// The check of one CSV against another.
CapturedRun check(Sandbox& sandbox, const std::string& base, const std::string& head) {
  const fs::path before = sandbox.folder() / "before.csv", now = sandbox.folder() / "now.csv";
  write_text(before, csv(base));
  write_text(now, csv(head));
  return sandbox.fathom({"check", "--base", copying(before), "--head", copying(now)});
}

}  // namespace

TEST_CASE("A script that writes a CSV is judged in paired rounds") {
  Sandbox sandbox({});
  // Each round is a little off, as a measurement is; the head's sort takes 6 % longer.
  const fs::path script = sandbox.folder() / "measure.sh";
  write_text(script, R"(
n=$(cat count 2>/dev/null || echo 0)
echo $((n + 1)) >count
wiggle=$((n * 7 % 5))
sort=$((1000000 + wiggle * 300))
[ "$1" = slow ] && sort=$((sort + 60000))
printf 'name,unit,better,sample,sample\nsort,ns,lower,%d,%d\nrows,rows/s,higher,%d\n' \
  $sort $((sort + 100)) $((5000 + wiggle)) >"$FATHOM_CHECK_OUT"
)");
  const auto measure = [&](const char* speed) {
    return "cd " + sandbox.folder().string() + " && sh measure.sh " + speed;
  };
  const fs::path summary = sandbox.folder() / "gate.md";
  expect(1, sandbox.fathom({"check", "--base", measure("fast"), "--head", measure("slow"),
                            "--markdown", summary.string()}))
      .says("FAIL: 1 regression confirmed\n2 metrics: 1 regression, 1 unchanged\n");
  has(read_text(summary), "| regression | `sort` |");
  expect(0, sandbox.fathom({"check", "--base", measure("slow"), "--head", measure("slow")}));
}

TEST_CASE("The file of every tool that docs/gate.md lists is judged in paired rounds") {
  Sandbox sandbox({});
  for (const auto& [file, metrics] : {std::pair{"google-benchmark-repetitions.json", 2},
                                      {"hyperfine.json", 2},
                                      {"pytest-benchmark.json", 3},
                                      {"criterion", 2},
                                      {"plain.csv", 2}}) {
    INFO(file);
    expect(0, sandbox.fathom(
                  {"check", "--base", copying(data / file), "--head", copying(data / file)}))
        .first_line("PASS: " + std::to_string(metrics) + " metrics, no regression");
  }
  // nvbench's has its samples beside it.
  const std::string samples = copying(data / "nvbench.json") + " && cp -r " +
                              (data / "nvbench.json-bin").string() + " {out}-bin";
  expect(0, sandbox.fathom({"check", "--base", samples, "--head", samples}))
      .says("3 metrics: 2 unchanged, 1 ignored\n");
}

TEST_CASE("What two sides cannot have in common is said, with the code for it") {
  Sandbox sandbox({});
  expect(3, sandbox.fathom({"check", "--base", copying(data / "plain.csv"), "--head",
                            copying(data / "hyperfine.json")}))
      .first_line("INCONCLUSIVE: different program: csv and hyperfine");
  const std::string base = "a,ms,lower,1\nb,ms,lower,2\n";
  expect(3, check(sandbox, base, "a,ms,lower,1\nb,MB,lower,2\n"))
      .says("it is not the same metric throughout: its unit went from s to MB.");
  // But a time is a time, whatever it is written in.
  expect(0, check(sandbox, base, "a,us,lower,1000\nb,s,lower,2e-3\n"));
  expect(4, check(sandbox, base, "a,ms,lower,1\n")).says("it is in the baseline and not here.");
  expect(0, check(sandbox, "a,ms,lower,1\n", base)).says("the base has no such metric.");
}

TEST_CASE("A time of zero is no value, a count of zero is one, and NaN is bad input") {
  Sandbox sandbox({});
  const std::string base = "a,ms,lower,1\nb,,lower,0\n";
  expect(0, check(sandbox, base, base));
  expect(1, check(sandbox, base, "a,ms,lower,1\nb,,lower,1\n"));
  expect(4, check(sandbox, base, "a,ms,lower,0\nb,,lower,0\n"))
      .says("its value is 0 s, and no time or rate that was measured is.");
  for (const char* text : {"nan", "inf", "1e999", "one"}) {
    const CapturedRun refused =
        expect(2, check(sandbox, base, "a,ms,lower," + std::string(text) + "\n"));
    // Beside a line a round, one sentence.
    has(refused.errors, "left no usable result",
        "line 2 has the sample \"" + std::string(text) + "\"");
    CHECK(refused.output.empty());
  }
}
