// A run on a GPU, and every way in which a part of it can fail: what was measured is kept, the
// report says what is missing, and the exit code says why.

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <filesystem>

#include "results/document_io.h"
#include "results/error.h"
#include "sandbox.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

TEST_CASE("A run leaves document, report and logs, and ends with the report's path", "[e2e]") {
  Sandbox box({"first", "second"});
  const auto run = box.run();
  INFO(run.output << run.errors);
  REQUIRE(code(run) == 0);
  const Document document = box.result();
  CHECK(document.source == Source::measured);
  CHECK(document.suite == "default");
  CHECK(entries_of(document, "first") == 2);
  CHECK(entries_of(document, "second") == 2);
  CHECK(summary_of(document, "first").status == ProbeStatus::complete);
  CHECK_FALSE(box.report().empty());
  CHECK_THAT(read_text(box.out() / "logs" / "first.log"), ContainsSubstring("log of first"));
  CHECK_FALSE(std::filesystem::exists(box.out() / "parts"));
  CHECK(last_line(run.output) == "Explore: " + (box.out() / "report" / "index.html").string());
  CHECK_THAT(run.output, !ContainsSubstring("REPLAY"));
  CHECK_THAT(box.report(), !ContainsSubstring("REPLAY"));
  CHECK(run.errors.empty());  // no progress line without a terminal
}

TEST_CASE("Only the probes asked for run, with the suite and seed asked for", "[e2e]") {
  Sandbox box({"first", "second"});
  const auto run = box.run({"--probe", "second", "--suite", "quick", "--seed", "42"});
  REQUIRE(code(run) == 0);
  const Document document = box.result();
  CHECK(document.probes.size() == 1);
  CHECK(entries_of(document, "second") == 2);
  CHECK(document.suite == "quick");
  CHECK(document.seed == "42");
}

TEST_CASE("A suite is groups of probes and the size of their sweeps", "[e2e]") {
  Sandbox box({"first", "atlas_of_things", "atlas_long_haul"});
  REQUIRE(code(box.run()) == 0);
  CHECK(entries_of(box.result(), "first") == 2);
  CHECK(box.result().probes.size() == 1);
  REQUIRE(code(box.run({"--suite", "atlas-quick"})) == 0);
  const Document document = box.result();
  CHECK(document.probes.size() == 1);
  CHECK(entries_of(document, "atlas_of_things") == 2);
  CHECK(document.suite == "atlas-quick");
  CHECK_THAT(read_text(box.out() / "logs" / "atlas_of_things.log"),
             ContainsSubstring("flag --suite quick"));
  REQUIRE(code(box.run({"--suite", "atlas"})) == 0);
  const Document whole = box.result();
  CHECK(whole.probes.size() == 2);
  CHECK(entries_of(whole, "atlas_long_haul") == 2);
  CHECK(entries_of(whole, "first") == 0);
  // By name a probe runs whatever its group.
  REQUIRE(code(box.run({"--suite", "atlas", "--probe", "first"})) == 0);
  CHECK(entries_of(box.result(), "first") == 2);
  Sandbox without({"first"});
  const auto none = without.run({"--suite", "atlas"});
  CHECK(code(none) == static_cast<int>(ExitCode::setup_incomplete));
  CHECK_THAT(none.errors, ContainsSubstring("group atlas, atlas-long"));
}

TEST_CASE("What is asked of the probes reaches them", "[e2e]") {
  Sandbox box({"first"});
  REQUIRE(code(box.run({"--no-counters", "--device", "1"})) == 0);
  const std::string log = read_text(box.out() / "logs" / "first.log");
  for (const char* flag : {"flag --no-counters", "flag --device 1"})
    CHECK_THAT(log, ContainsSubstring(flag));
  REQUIRE(code(box.run()) == 0);
  CHECK_THAT(read_text(box.out() / "logs" / "first.log"), !ContainsSubstring("counters"));
}

TEST_CASE("Only some probes collect counters, and the others leave out what these decide",
          "[e2e]") {
  Sandbox box({"first", "second", "third"});
  const auto run = box.run({"--counters-of", "third", "--counters-of", "first"});
  INFO(run.output << run.errors);
  REQUIRE(code(run) == 0);
  const auto log = [&](const char* probe) {
    return read_text(box.out() / "logs" / (std::string(probe) + ".log"));
  };
  CHECK_THAT(log("second"),
             ContainsSubstring("flag --no-counters") && ContainsSubstring("timed only"));
  for (const char* probe : {"first", "third"})
    CHECK_THAT(log(probe), ContainsSubstring("log of") && !ContainsSubstring("--no-counters") &&
                               !ContainsSubstring("timed only"));
  CHECK(box.result().probes.size() == 3);
  REQUIRE(box.result().warnings.size() == 1);
  CHECK_THAT(box.result().warnings.front(),
             ContainsSubstring("asked for of third, first only (--counters-of)"));
  REQUIRE(code(box.run({"--no-counters"})) == 0);
  CHECK(box.result().warnings.empty());
  CHECK_THAT(log("second"), !ContainsSubstring("timed only"));
}

TEST_CASE("Counters of a probe that is not there, or of none, are bad input", "[e2e]") {
  Sandbox box({"first", "atlas_first"});
  const auto refused = [&](const std::vector<std::string>& flags, const std::string& said) {
    const auto run = box.run(flags);
    INFO(run.errors);
    CHECK(code(run) == to_int(ExitCode::bad_input));
    CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
    CHECK_THAT(run.errors, ContainsSubstring(said));
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
    const auto run = box.fathom({command, "--device", "7"});
    CHECK(code(run) == to_int(ExitCode::bad_input));
    CHECK(run.errors == "fathom: There is no GPU 7.\n");
  }
}

TEST_CASE("Without --out the folder is named for GPU and time", "[e2e]") {
  Sandbox box({"first"});
  REQUIRE(code(box.fathom({"run"})) == 0);
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(box.folder()))
    found += entry.path().filename().string().starts_with("fathom-fake-100-") &&
             std::filesystem::exists(entry.path() / "result.json");
  CHECK(found == 1);
}

TEST_CASE("Google Benchmark's flags reach the probes; one without a match is left out", "[e2e]") {
  Sandbox box({"first", "second"});
  const auto run = box.run({"--", "--benchmark_filter=second"});
  INFO(run.output << run.errors);
  REQUIRE(code(run) == 0);
  CHECK(box.result().probes.size() == 1);
  CHECK(entries_of(box.result(), "second") == 2);

  const auto none = box.run({"--benchmark_filter=nothing"});
  CHECK(code(none) == to_int(ExitCode::bad_input));
  CHECK_THAT(none.errors, ContainsSubstring("--benchmark_filter"));
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
      BadDay{"silent", ExitCode::probe_crashed, ProbeStatus::crashed, "complete results", 0});
  const bool together = GENERATE(false, true);
  CAPTURE(day.probe, together);
  Sandbox box({"first", day.probe, "zero"});
  std::vector<std::string> flags{"--time-limit", "1"};
  if (together) flags.insert(flags.end(), {"--no-counters", "--start-together"});
  const auto run = box.run(flags);
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(day.code));
  const Document document = box.result();
  CHECK(entries_of(document, "first") == 2);
  CHECK(entries_of(document, "zero") == 2);
  CHECK(entries_of(document, day.probe) == day.kept);
  CHECK(summary_of(document, day.probe).status == day.status);
  CHECK_THAT(box.report(), ContainsSubstring(day.said));
  CHECK_THAT(last_line(run.output), EndsWith("index.html"));
}

TEST_CASE("A failed check fails the run, whose results are complete", "[e2e]") {
  Sandbox box({"first", "mismatch"});
  CHECK(code(box.run()) == to_int(ExitCode::check_failed));
  CHECK(summary_of(box.result(), "mismatch").status == ProbeStatus::complete);
}

TEST_CASE("Counters that are not permitted have their own code, and times are kept", "[e2e]") {
  Sandbox box({"counters", "first"});
  CHECK(code(box.run()) == to_int(ExitCode::counters_unavailable));
  CHECK(summary_of(box.result(), "counters").status == ProbeStatus::complete);
  CHECK(entries_of(box.result(), "counters") == 2);
}

TEST_CASE("Several different causes make an incomplete run", "[e2e]") {
  Sandbox box({"crash", "memory"});
  CHECK(code(box.run()) == to_int(ExitCode::incomplete));
  CHECK(entries_of(box.result(), "crash") == 2);
}

TEST_CASE("After the GPU is lost no further probe starts", "[e2e]") {
  Sandbox box({"first", "lost", "zero"});
  const auto run = box.run();
  CHECK(code(run) == to_int(ExitCode::gpu_lost));
  const Document document = box.result();
  CHECK(entries_of(document, "first") == 2);
  CHECK(entries_of(document, "lost") == 2);
  CHECK(entries_of(document, "zero") == 0);
  CHECK_FALSE(std::filesystem::exists(box.out() / "logs" / "zero.log"));
  CHECK_THAT(summary_of(document, "zero").status_reason,
             ContainsSubstring("not started") && ContainsSubstring("fell off the bus"));
}

TEST_CASE("A hanging probe and its child are both gone after the time limit", "[e2e]") {
  Sandbox box({"hang"});
  const auto run = box.run({"--time-limit", "1"});
  CHECK(code(run) == to_int(ExitCode::probe_timed_out));
  const auto pids = pids_in(box.out() / "logs" / "hang.log");
  REQUIRE(pids.size() == 2);
  for (const int pid : pids) CHECK_FALSE(alive(pid));
}

TEST_CASE("A run of which nothing is left still says on which GPU, and why", "[e2e]") {
  Sandbox box({"silent"});
  const auto run = box.run();
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(ExitCode::probe_crashed));
  CHECK(box.result().fingerprint.gpu_name == "NVIDIA Fake 100");
  CHECK(summary_of(box.result(), "silent").status == ProbeStatus::crashed);
}

TEST_CASE("A second run on the same GPU is refused, and says who holds it", "[e2e]") {
  Sandbox box({"slow"});
  Background first({"run", "--out", (box.folder() / "holder").string()});
  REQUIRE(wait_for_text(box.folder() / "holder" / "logs" / "slow.log", "pids"));
  const auto second = box.run();
  CHECK(code(second) == to_int(ExitCode::gpu_busy));
  CHECK_THAT(second.errors, ContainsSubstring("holder") && ContainsSubstring("--wait"));
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
  CHECK_THAT(second.output(), ContainsSubstring("Waiting for the GPU"));
  first.signal(SIGINT);
  CHECK(first.wait() == to_int(ExitCode::interrupted));
  CHECK(second.wait() == 0);
  CHECK(entries_of(box.result(), "first") == 2);
}

}  // namespace
}  // namespace fathom
