// A run on a GPU, and every way in which a part of it can fail: what was measured is kept, the
// report says what is missing, and the exit code says why.

#include "sandbox.h"

using namespace fathom;

TEST_CASE("A run leaves document, report and logs, and ends with the report's path", "[e2e]") {
  Sandbox box({"first", "second"});
  const CapturedRun run = expect(0, box.run());
  const Document document = box.result();
  CHECK(document.source == Source::measured);
  CHECK(document.suite == "default");
  has_entries(document, {{"first", 2}, {"second", 2}});
  CHECK(summary_of(document, "first").status == ProbeStatus::complete);
  CHECK_FALSE(box.report().empty());
  has(box.log_of("first"), "log of first");
  CHECK_FALSE(fs::exists(box.out() / "parts"));
  CHECK(last_line(run.output) == "Explore: " + (box.out() / "report" / "index.html").string());
  const std::string report = box.report();
  lacks(run.output + report, "REPLAY");
  CHECK(run.errors.empty());  // no progress line without a terminal
  // The same document gives the same page, beside it by default.
  fs::remove_all(box.out() / "report");
  const CapturedRun again = expect(0, box.call("report out/result.json"));
  CHECK(last_line(again.output) == last_line(run.output));
  CHECK(box.report() == report);
}

TEST_CASE("Only the probes asked for run, with what is asked of them", "[e2e]") {
  Sandbox box({"first", "second"});
  expect(0, box.run({"--probe", "second", "--suite", "quick", "--seed", "42", "--no-counters",
                     "--device", "1"}));
  const Document document = box.result();
  CHECK(document.probes.size() == 1);
  CHECK(entries_of(document, "second") == 2);
  CHECK(document.suite == "quick");
  CHECK(document.seed == "42");
  has(box.log_of("second"), "flag --no-counters", "flag --device 1");
  expect(0, box.run());
  lacks(box.log_of("first"), "counters");
}

TEST_CASE("A suite is groups of probes and the size of their sweeps", "[e2e]") {
  Sandbox box({"first", "atlas_of_things", "atlas_long_haul"});
  const auto check = [&](const std::string& flags, std::vector<std::string> probes) {
    CAPTURE(flags);
    expect(0, box.call("run --out out " + flags));
    std::vector<std::string> ran;
    for (const ProbeSummary& probe : box.result().probes) ran.push_back(probe.name);
    CHECK(ran == probes);
    CHECK(box.result().entries.size() == 2 * probes.size());
  };
  check("", {"first"});
  check("--suite atlas-quick", {"atlas_of_things"});
  CHECK(box.result().suite == "atlas-quick");
  has(box.log_of("atlas_of_things"), "flag --suite quick");
  check("--suite atlas", {"atlas_long_haul", "atlas_of_things"});
  // By name a probe runs whatever its group.
  check("--suite atlas --probe first", {"first"});
  Sandbox without({"first"});
  expect(ExitCode::setup_incomplete, without.run({"--suite", "atlas"}))
      .complains("group atlas, atlas-long");
}

TEST_CASE("Only some probes collect counters, and the others leave out what these decide",
          "[e2e]") {
  Sandbox box({"first", "second", "third"});
  expect(0, box.run({"--counters-of", "third", "--counters-of", "first"}));
  has(box.log_of("second"), "flag --no-counters", "timed only");
  for (const char* probe : {"first", "third"}) {
    has(box.log_of(probe), "log of");
    lacks(box.log_of(probe), "--no-counters", "timed only");
  }
  CHECK(box.result().probes.size() == 3);
  REQUIRE(box.result().warnings.size() == 1);
  has(box.result().warnings.front(), "asked for of third, first only (--counters-of)");
  expect(0, box.run({"--no-counters"}));
  CHECK(box.result().warnings.empty());
  lacks(box.log_of("second"), "timed only");
}

TEST_CASE("Without --out the folder is named for GPU and time", "[e2e]") {
  Sandbox box({"first"});
  expect(0, box.fathom({"run"}));
  int found = 0;
  for (const auto& entry : fs::directory_iterator(box.folder()))
    found += entry.path().filename().string().starts_with("fathom-fake-100-") &&
             fs::exists(entry.path() / "result.json");
  CHECK(found == 1);
}

TEST_CASE("Google Benchmark's flags reach the probes; one without a match is left out", "[e2e]") {
  Sandbox box({"first", "second"});
  expect(0, box.run({"--", "--benchmark_filter=second"}));
  CHECK(box.result().probes.size() == 1);
  CHECK(entries_of(box.result(), "second") == 2);
  expect(ExitCode::bad_input, box.run({"--benchmark_filter=nothing"}))
      .complains("--benchmark_filter");
}

struct BadDay {
  const char* probe;
  ExitCode code;
  ProbeStatus status;
  const char* said;  ///< in the report
  std::size_t kept;
};

TEST_CASE("One probe's bad day costs its own missing results and nothing else", "[e2e]") {
  const auto day = GENERATE(
      BadDay{"crash", ExitCode::probe_crashed, ProbeStatus::crashed, "SIGSEGV", 2},
      BadDay{"hang", ExitCode::probe_timed_out, ProbeStatus::timed_out, "time limit", 2},
      BadDay{"memory", ExitCode::gpu_out_of_memory, ProbeStatus::partial, "free memory", 2},
      BadDay{"mismatch", ExitCode::check_failed, ProbeStatus::complete, "", 2},
      BadDay{"silent", ExitCode::probe_crashed, ProbeStatus::crashed, "complete results", 0});
  const bool together = GENERATE(false, true);
  CAPTURE(day.probe, together);
  Sandbox box({"first", day.probe, "zero"});
  const CapturedRun run = expect(
      day.code, box.fathom(box.words_of_run("--time-limit 1" + (together ? start_together : ""))));
  const Document document = box.result();
  has_entries(document, {{"first", 2}, {"zero", 2}, {day.probe, day.kept}});
  CHECK(summary_of(document, day.probe).status == day.status);
  has(box.report(), day.said);
  CHECK_THAT(last_line(run.output), EndsWith("index.html"));
}

TEST_CASE("Counters that are not permitted have their own code, and times are kept", "[e2e]") {
  Sandbox box({"counters", "first"});
  expect(ExitCode::counters_unavailable, box.run());
  CHECK(summary_of(box.result(), "counters").status == ProbeStatus::complete);
  CHECK(entries_of(box.result(), "counters") == 2);
}

TEST_CASE("After the GPU is lost, or the disk is full, no further probe begins", "[e2e]") {
  for (const auto& [probe, together, code, why] :
       {std::tuple{"lost", false, ExitCode::gpu_lost, "fell off the bus"},
        {"lost", true, ExitCode::gpu_lost, "fell off the bus"},
        {"full", false, ExitCode::output_full, "The disk is full"}}) {
    CAPTURE(probe, together);
    Sandbox box({"first", probe, "zero"});
    expect(code, box.fathom(box.words_of_run(together ? start_together : "")));
    const Document document = box.result();
    has_entries(document, {{"first", 2}, {probe, 2}, {"zero", 0}});
    CHECK(fs::exists(box.out() / "logs" / "zero.log") == together);
    has(summary_of(document, "zero").status_reason, "not started", why);
  }
}

TEST_CASE("A run of which nothing is left still says on which GPU, and why", "[e2e]") {
  Sandbox box({"silent"});
  expect(ExitCode::probe_crashed, box.run());
  CHECK(box.result().fingerprint.gpu_name == "NVIDIA Fake 100");
  CHECK(summary_of(box.result(), "silent").status == ProbeStatus::crashed);
}

TEST_CASE("A second run on the same GPU is refused, or waits where it is told to", "[e2e]") {
  Sandbox box({"first", "slow"});
  Background holder(words("run --probe slow --out " + (box.folder() / "holder").string()));
  REQUIRE(wait_for_text(box.folder() / "holder" / "logs" / "slow.log", "pids"));
  expect(ExitCode::gpu_busy, box.run()).complains("holder", "--wait");
  CHECK_FALSE(fs::exists(box.out() / "result.json"));
  Background waiting(box.words_of_run("--wait --probe first"));
  for (int i = 0; i < 500 && waiting.output().empty(); ++i) std::this_thread::sleep_for(10ms);
  has(waiting.output(), "Waiting for the GPU");
  holder.signal(SIGINT);
  CHECK(holder.wait() == to_int(ExitCode::interrupted));
  CHECK(waiting.wait() == 0);
  CHECK(entries_of(box.result(), "first") == 2);
}

// `--start-together`: all probes are up before the first one measures, and what comes of a run is
// what it would be without.
static CapturedRun run_together(Sandbox& box, const std::string& more = "",
                                ExitCode expected = ExitCode::ok) {
  return expect(expected, box.fathom(box.words_of_run(more + start_together)));
}

static long long of_log(const Sandbox& box, const std::string& probe, const std::string& word) {
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
