// `fathom run --start-together`: all probes are up before the first one measures, and what comes of
// a run is what it would be without. Their bad days and interrupts are beside those of other runs.

#include "sandbox.h"

namespace fathom {
namespace {

CapturedRun run_together(Sandbox& box, std::vector<std::string> more = {},
                         ExitCode expected = ExitCode::ok) {
  more.insert(more.end(), {"--no-counters", "--start-together"});
  return expect(expected, box.run(more));
}

long long of_log(const Sandbox& box, const std::string& probe, const std::string& word) {
  return number_in(box.out() / "logs" / (probe + ".log"), word);
}

TEST_CASE("Probes that are started together measure in turn", "[e2e]") {
  Sandbox box({"first", "second", "third"});
  const auto run = run_together(box);
  for (const char* probe : {"first", "second", "third"}) {
    CHECK(entries_of(box.result(), probe) == 2);
    CHECK(of_log(box, probe, "ready") > 0);
    CHECK(of_log(box, probe, "ready") < of_log(box, "first", "began"));
    has(run.output, std::string(probe) + ": 2 cases in");
  }
  CHECK(of_log(box, "first", "ended") < of_log(box, "second", "began"));
  CHECK(of_log(box, "second", "ended") < of_log(box, "third", "began"));
  // Those that wait beside it.
  CHECK(of_log(box, "first", "beside") == 2);
  CHECK(of_log(box, "second", "beside") >= 1);  // and the one before it, while that ends
  CHECK(of_log(box, "third", "beside") <= 1);
  expect(0, box.run({"--no-counters"}));
  CHECK(of_log(box, "first", "ready") == -1);
}

TEST_CASE("The next one begins once the one before has measured, whatever its end takes", "[e2e]") {
  Sandbox box({"lingering", "next", "other"});
  run_together(box);
  CHECK(of_log(box, "next", "began") > of_log(box, "lingering", "ended"));
  CHECK(of_log(box, "next", "began") < of_log(box, "lingering", "left"));
  CHECK(of_log(box, "next", "beside") == 2);  // it still has its context
  CHECK(entries_of(box.result(), "lingering") == 2);
}

TEST_CASE("A filter's probes are started together, and the others are left out", "[e2e]") {
  Sandbox box({"first", "second", "third"});
  run_together(box, {"--benchmark_filter=second|third"});
  CHECK(box.result().probes.size() == 2);
  CHECK(of_log(box, "second", "beside") == 1);
}

TEST_CASE("As many probes are up at once as the GPU's memory has room for", "[e2e]") {
  Sandbox box({"first", "second", "third"});
  box.set("FAKE_MEMORY_GIB", "16");
  run_together(box);
  CHECK(of_log(box, "second", "ready") < of_log(box, "first", "began"));
  CHECK(of_log(box, "third", "ready") > of_log(box, "second", "ended"));
  CHECK(of_log(box, "first", "beside") == 1);
  box.set("FAKE_MEMORY_GIB", "8");
  run_together(box);
  CHECK(of_log(box, "first", "ready") == -1);
  CHECK(entries_of(box.result(), "first") == 2);
}

TEST_CASE("Where probes take the GPU from each other they start one by one", "[e2e]") {
  Sandbox box({"crowded", "first"});
  run_together(box);
  has_entries(box.result(), {{"crowded", 2}, {"first", 2}});
  CHECK(of_log(box, "first", "ready") == -1);
}

TEST_CASE("A probe that dies before it is ready costs its results, a late one begins in its turn",
          "[e2e]") {
  Sandbox box({"first", "late", "stillborn", "zero"});
  run_together(box, {"--time-limit", "1"}, ExitCode::probe_crashed);
  const Document document = box.result();
  has_entries(document, {{"first", 2}, {"late", 2}, {"zero", 2}});
  CHECK(summary_of(document, "stillborn").status == ProbeStatus::crashed);
  CHECK(of_log(box, "first", "beside") == 1);  // only the other living one
  CHECK(of_log(box, "late", "ready") == -1);
}

}  // namespace
}  // namespace fathom
