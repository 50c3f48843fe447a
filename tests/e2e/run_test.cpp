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
  CHECK_FALSE(std::filesystem::exists(box.out() / "parts"));
  CHECK(last_line(run.output) == "Explore: " + (box.out() / "report" / "index.html").string());
  lacks(run.output, "REPLAY");
  lacks(box.report(), "REPLAY");
  CHECK(run.errors.empty());  // no progress line without a terminal
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
  expect(0, box.run());
  CHECK(entries_of(box.result(), "first") == 2);
  CHECK(box.result().probes.size() == 1);
  expect(0, box.run({"--suite", "atlas-quick"}));
  const Document document = box.result();
  CHECK(document.probes.size() == 1);
  CHECK(entries_of(document, "atlas_of_things") == 2);
  CHECK(document.suite == "atlas-quick");
  has(box.log_of("atlas_of_things"), "flag --suite quick");
  expect(0, box.run({"--suite", "atlas"}));
  const Document whole = box.result();
  CHECK(whole.probes.size() == 2);
  has_entries(whole, {{"atlas_long_haul", 2}, {"first", 0}});
  // By name a probe runs whatever its group.
  expect(0, box.run({"--suite", "atlas", "--probe", "first"}));
  CHECK(entries_of(box.result(), "first") == 2);
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

TEST_CASE("Counters of a probe that is not there, or of none, are bad input", "[e2e]") {
  Sandbox box({"first", "atlas_first"});
  const auto refused = [&](const std::vector<std::string>& flags, const std::string& said) {
    expect(ExitCode::bad_input, box.run(flags)).one_line().complains(said);
    CHECK_FALSE(std::filesystem::exists(box.out()));
  };
  refused({"--counters-of", "frist"}, "no probe `frist`, only first. Did you mean `first`?");
  refused({"--counters-of", "first", "--counters-of", "atlas_first"}, "no probe `atlas_first`");
  refused({"--counters-of", "first", "--no-counters"}, "--no-counters excludes --counters-of");
  refused({"--counters-of", "first", "--start-together"}, "--no-counters");
}

TEST_CASE("A GPU that does not exist is bad input", "[e2e]") {
  Sandbox box({"first"});
  for (const char* command : {"run", "doctor"}) {
    expect(ExitCode::bad_input, box.fathom({command, "--device", "7"}))
        .one_line()
        .complains("fathom: There is no GPU 7.\n");
  }
}

TEST_CASE("Without --out the folder is named for GPU and time", "[e2e]") {
  Sandbox box({"first"});
  expect(0, box.fathom({"run"}));
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(box.folder()))
    found += entry.path().filename().string().starts_with("fathom-fake-100-") &&
             std::filesystem::exists(entry.path() / "result.json");
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
      BadDay{"mig", ExitCode::partitioned_gpu, ProbeStatus::partial, "MIG slice", 2},
      BadDay{"mismatch", ExitCode::check_failed, ProbeStatus::complete, "", 2},
      BadDay{"silent", ExitCode::probe_crashed, ProbeStatus::crashed, "complete results", 0});
  const bool together = GENERATE(false, true);
  CAPTURE(day.probe, together);
  Sandbox box({"first", day.probe, "zero"});
  std::vector<std::string> flags{"--time-limit", "1"};
  if (together) flags.insert(flags.end(), {"--no-counters", "--start-together"});
  const CapturedRun run = expect(day.code, box.run(flags));
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
    std::vector<std::string> flags;
    if (together) flags = {"--no-counters", "--start-together"};
    expect(code, box.run(flags));
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

TEST_CASE("A second run on the same GPU is refused, and says who holds it", "[e2e]") {
  Sandbox box({"slow"});
  Background first({"run", "--out", (box.folder() / "holder").string()});
  REQUIRE(wait_for_text(box.folder() / "holder" / "logs" / "slow.log", "pids"));
  expect(ExitCode::gpu_busy, box.run()).complains("holder", "--wait");
  CHECK_FALSE(std::filesystem::exists(box.out() / "result.json"));
  first.signal(SIGINT);
  CHECK(first.wait() == to_int(ExitCode::interrupted));
}

TEST_CASE("With --wait a second run starts when the first one is over", "[e2e]") {
  Sandbox box({"first", "slow"});
  Background first({"run", "--probe", "slow", "--out", (box.folder() / "holder").string()});
  REQUIRE(wait_for_text(box.folder() / "holder" / "logs" / "slow.log", "pids"));
  Background second({"run", "--wait", "--probe", "first", "--out", box.out().string()});
  for (int i = 0; i < 500 && second.output().empty(); ++i) usleep(10'000);
  has(second.output(), "Waiting for the GPU");
  first.signal(SIGINT);
  CHECK(first.wait() == to_int(ExitCode::interrupted));
  CHECK(second.wait() == 0);
  CHECK(entries_of(box.result(), "first") == 2);
}
