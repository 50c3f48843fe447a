// A run on a GPU whose probes are started together, or whose disk is full; else see the session
// tests/golden/sessions/run.txt.

#include "sandbox.h"

namespace fathom {
namespace {

// `--start-together`: all probes are up before the first one measures, and what comes of a run is
// what it would be without.
CapturedRun run_together(Sandbox& box, const std::string& more = "",
                         ExitCode expected = ExitCode::ok) {
  return expect(expected, box.fathom(box.words_of_run(more + start_together)));
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
  // A filter starts its own probes alone.
  run_together(box, "--benchmark_filter=second|third");
  CHECK(box.result().probes.size() == 2);
  CHECK(of_log(box, "second", "beside") == 1);
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
  run_together(box, "--time-limit 1", ExitCode::probe_crashed);
  const Document document = box.result();
  has_entries(document, {{"first", 2}, {"late", 2}, {"zero", 2}});
  CHECK(summary_of(document, "stillborn").status == ProbeStatus::crashed);
  CHECK(of_log(box, "first", "beside") == 1);  // only the other living one
  CHECK(of_log(box, "late", "ready") == -1);
}

/// `fathom run` into "disk/out" on a file system of `size`, in a mount namespace of its own, which
/// has to find it full; what it left is in "kept" then.
CapturedRun run_on_small_disk(const Sandbox& box, const std::string& size) {
  fs::create_directories(box.folder() / "disk");
  const std::string inside =
      "cd \"$1\" && mount -t tmpfs -o size=" + size + " none disk || exit 99; " + FATHOM_PROGRAM +
      " run --out disk/out; status=$?; rm -f disk/out/parts/*.ballast; cp -r disk/out kept; "
      "exit $status";
  const std::string unshare =
      geteuid() == 0 ? "unshare --mount" : "unshare --map-root-user --mount";
  const CapturedRun run = run_and_capture(
      "/bin/sh",
      {"-c", unshare + " true || exit 99; exec " + unshare + " sh -c '" + inside + "' sh \"$1\"",
       "sh", box.folder()},
      60s);
  if (code(run) == 99) SKIP("this user cannot mount a small file system");
  return expect(ExitCode::output_full, run);
}

TEST_CASE("A full disk is refused before anything is measured", "[e2e]") {
  Sandbox box({"first"});
  has(run_on_small_disk(box, "4m").errors, "MiB free");
  CHECK_FALSE(fs::exists(box.folder() / "kept" / "logs" / "first.log"));
}

TEST_CASE("A disk that becomes full during the run costs no results", "[e2e]") {
  Sandbox box({"first", "hog"});
  has(run_on_small_disk(box, "20m").errors, "parts");
  for (const char* probe : {"first", "hog"}) {
    const Document part =
        read_document(box.folder() / "kept" / "parts" / (std::string(probe) + ".json"));
    CHECK(entries_of(part, probe) == 2);
  }
}

}  // namespace
}  // namespace fathom
