#include "tests/e2e/sandbox.h"

using namespace fathom;

// `fathom check --base CMD --head CMD` with commands that leave another tool's file.

namespace {

const fs::path data = FATHOM_GATE_DATA;

std::string copying(const fs::path& file) { return "cp -r " + file.string() + " {out}"; }

}  // namespace

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
  // A script finds the place in its environment.
  const std::string by_name = "cp " + (data / "plain.csv").string() + " \"$FATHOM_CHECK_OUT\"";
  expect(0, sandbox.fathom({"check", "--base", by_name, "--head", by_name}));
  // nvbench's has its samples beside it.
  const std::string samples = copying(data / "nvbench.json") + " && cp -r " +
                              (data / "nvbench.json-bin").string() + " {out}-bin";
  expect(0, sandbox.fathom({"check", "--base", samples, "--head", samples}))
      .says("3 metrics: 2 unchanged, 1 ignored\n");
}
