// `fathom fleet run` on bad days: probes and GPUs that fail, hang or are wrong, and what it cannot
// do.

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "fleet_run.h"
#include "results/error.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A short probe that dies costs what it would have measured", "[e2e][fleet]") {
  Sandbox box({"links", "first"});  // and the copy's program is not there at all
  box.set("FAKE_GPUS", "2");
  must_end(box, fleet_run(box, {"--alone", "brief"}), ExitCode::incomplete);
  const json fleet = fleet_of(box.out());
  CHECK(status_of(fleet, 1) == "partial");
  CHECK_THAT(gpu_of(fleet, 1)->at("reason").get<std::string>(),
             ContainsSubstring("probe_copy_bandwidth"));
  const json metrics =
      json::parse(read_text(box.out() / "gpus" / "box-1" / "gpu.json")).at("metrics");
  CHECK(metrics.at("alone").at(0) == 1e-6);
}

TEST_CASE("A short probe that never gets ready is given up before the others begin",
          "[e2e][fleet]") {
  Sandbox box({"links", "copy_bandwidth"});
  box.set("FAKE_GPUS", "2");
  box.set("FAKE_LATE", "copy_bandwidth");
  must_end(box, fleet_run(box, {"--alone", "brief", "--time-limit", "4"}), ExitCode::incomplete);
  const json fleet = fleet_of(box.out());
  CHECK(status_of(fleet, 1) == "partial");
  CHECK_THAT(gpu_of(fleet, 1)->at("reason").get<std::string>(),
             ContainsSubstring("alone, copy_bandwidth: it was not ready within 4 s"));
  const fs::path gpu = box.out() / "gpus" / "box-1";
  CHECK(json::parse(read_text(gpu / "gpu.json")).at("metrics").at("alone").at(0) == 1e-6);
  for (const int pid : pids_in(gpu / "alone" / "copy_bandwidth.log")) CHECK_FALSE(alive(pid));
  CHECK(number_in(gpu / "alone" / "links.log", "beside") == 1);  // its own other part
}

TEST_CASE("A time limit names the probe that hung", "[e2e][fleet]") {
  Sandbox box({"first", "hang", "zero"});
  must_end(box, fleet_run(box, {"--alone", "none", "--time-limit", "3"}), ExitCode::incomplete);
  const json fleet = fleet_of(box.out());
  CHECK(status_of(fleet, 0) == "partial");
  CHECK(gpu_of(fleet, 0)->at("reason") ==
        "suite: it hit its time limit of 3 s (--time-limit) at the probe hang");
}

TEST_CASE(
    "Without MPI a launcher's ranks say what to install, and without fathom-fleet fathom does",
    "[e2e][fleet]") {
  Sandbox box({"first"});
  const fs::path alone = box.folder() / "without" / "fathom";  // and no fathom-fleet-rank beside it
  fs::create_directories(alone.parent_path());
  fs::copy_file(FATHOM_PROGRAM, alone);
  const auto lost = run_and_capture(alone.string(), {"fleet", "run"}, std::chrono::seconds(60));
  CHECK(code(lost) == to_int(ExitCode::setup_incomplete));
  CHECK_THAT(lost.errors, ContainsSubstring("`./fathom fleet` builds it"));
  const fs::path fleet = fs::path(FATHOM_PROGRAM).replace_filename("fathom-fleet");
  fs::copy_file(fleet, alone.parent_path() / fleet.filename());
  box.set("OMPI_COMM_WORLD_RANK", "0");
  box.set("OMPI_COMM_WORLD_SIZE", "4");
  const auto run = run_and_capture(alone.string(), fleet_run(box), std::chrono::seconds(60));
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(ExitCode::setup_incomplete));
  CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
  for (const char* hint : {"Open MPI started 4 ranks", "libopenmpi-dev", "--part"})
    CHECK_THAT(run.errors, ContainsSubstring(hint));
}

TEST_CASE("A failed check beside refused counters is a failed check", "[e2e][fleet]") {
  Sandbox box({"counters", "mismatch"});
  must_end(box, fleet_run(box), ExitCode::check_failed);
  CHECK(gpu_of(fleet_of(box.out()), 0)->at("exit_code") == to_int(ExitCode::check_failed));
  // Of two GPUs one fails its check and the other's probe crashes: causes that differ.
  box.set("FAKE_GPUS", "2");
  box.set("FAKE_BAD_GPU", "1");
  Sandbox two({"sometimes", "mismatch"});
  CHECK(code(two.fathom(fleet_run(two, {"--alone", "none"}))) == to_int(ExitCode::incomplete));
}

TEST_CASE("A GPU whose probe crashes costs its own figures only", "[e2e][fleet]") {
  Sandbox box({"first", "sometimes"});
  box.set("FAKE_GPUS", "2");
  box.set("FAKE_BAD_GPU", "1");
  must_end(box, fleet_run(box, {"--alone", "none"}), ExitCode::incomplete);
  const json fleet = fleet_of(box.out());
  CHECK(status_of(fleet, 0) == "complete");
  CHECK(status_of(fleet, 1) == "partial");
  CHECK_THAT(gpu_of(fleet, 1)->at("reason").get<std::string>(), ContainsSubstring("SIGSEGV"));
}

TEST_CASE("Counters that were refused are told by who was to collect them, and figures are kept",
          "[e2e][fleet]") {
  Sandbox box({"counters", "first"});
  box.set("FAKE_GPUS", "2");
  must_end(box, fleet_run(box), ExitCode::incomplete);
  const json fleet = fleet_of(box.out());
  CHECK_THAT(gpu_of(fleet, 0)->at("reason").get<std::string>(),
             ContainsSubstring("counters are not permitted"));
  CHECK(gpu_of(fleet, 1)->at("reason") == "");
  CHECK(status_of(fleet, 0) == "complete");
  REQUIRE(fleet.at("problems").size() == 1);
  CHECK(fleet.at("problems").at(0).at("what") == "box GPU 0");
  CHECK(fleet.at("problems").at(0).at("exit_code") == to_int(ExitCode::counters_unavailable));
  const std::string page = read_text(box.out() / "report" / "README.md");
  CHECK_THAT(page,
             ContainsSubstring("Hardware counters were asked for on 2 GPUs, collected on 1; 1 "
                               "were refused them."));
  CHECK_THAT(page, ContainsSubstring("No GPU that completed has the counters of `counters`."));
}

TEST_CASE("A GPU that computes wrong results is a problem, and a failed check", "[e2e][fleet]") {
  Sandbox box({"first", "mismatch"});
  box.set("FAKE_GPUS", "2");
  for (const char* alone : {"none", "full"}) {
    must_end(box, fleet_run(box, {"--alone", alone}), ExitCode::check_failed);
    const json fleet = fleet_of(box.out());
    CHECK(status_of(fleet, 1) == "complete");
    REQUIRE(fleet.at("problems").size() == 2);
    CHECK(fleet.at("problems").at(1).at("exit_code") == to_int(ExitCode::check_failed));
    CHECK_THAT(read_text(box.out() / "report" / "README.md"), ContainsSubstring("a check failed"));
  }
}

TEST_CASE("A folder that takes no documents is told as such", "[e2e][fleet]") {
  Sandbox box({"first"});
  write_text(box.folder() / "file", "");
  fs::create_directories(box.out());
  write_text(box.out() / "gpus", "a file where a folder should be");
  const auto run = must_end(box, fleet_run(box), ExitCode::output_unwritable);
  CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
  CHECK_THAT(run.errors, !ContainsSubstring("holds no result"));
}

TEST_CASE("What a fleet's run cannot do, it says in one sentence", "[e2e][fleet]") {
  Sandbox box({"first"});
  const auto refused = [&](std::vector<std::string> more, ExitCode expected) {
    const auto run = must_end(box, fleet_run(box, std::move(more)), expected);
    CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
    CHECK(run.output.empty());
  };
  const ExitCode bad = ExitCode::bad_input;
  refused({"--suite", "quikc"}, bad);
  refused({"--counters", "second"}, bad);
  refused({"--alone", "sometimes"}, bad);
  refused({"--gpus", "4"}, bad);
  refused({"--gpus", "0", "--replay"}, bad);
  refused({"--host-name", "../up"}, bad);
  refused({"--host-name", "two\nlines"}, bad);
  refused({"--expect-hosts", "/nowhere/hosts"}, bad);
  refused({"--time-limit", "-1"}, bad);
  refused({"--least-gap", "nan"}, bad);
  refused({"--no-such-flag"}, bad);
  refused({"stray"}, bad);
  box.set("FAKE_GPU", "none");
  refused({}, ExitCode::no_driver);
}

}  // namespace
}  // namespace fathom
