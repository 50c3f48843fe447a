#include "tests/e2e/sandbox.h"

using namespace fathom;
namespace fs = std::filesystem;

// `fathom check --base CMD --head CMD` with commands that leave another tool's file.

namespace {

const fs::path data = FATHOM_GATE_DATA;

std::string copying(const fs::path& file) { return "cp -r " + file.string() + " {out}"; }

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
