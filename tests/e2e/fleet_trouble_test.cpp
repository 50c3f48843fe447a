// `fathom fleet run` on bad days: probes and GPUs that fail, hang or are wrong, and what it cannot
// do.

#include "fleet_run.h"

using namespace fathom;

TEST_CASE("A short probe that dies costs what it would have measured", "[e2e][fleet]") {
  FleetBox box({"links", "first"}, 2);  // and the copy's program is not there at all
  const json fleet = box.run_fleet("--alone brief", ExitCode::incomplete);
  CHECK(gpu_of(fleet, 1).at("status") == "partial");
  has(reason_of(fleet, 1), "probe_copy_bandwidth");
  box.has_figures(1, {"alone"});
}

TEST_CASE("A short probe that never gets ready is given up before the others begin",
          "[e2e][fleet]") {
  FleetBox box({"links", "copy_bandwidth"}, 2);
  box.set("FAKE_LATE", "copy_bandwidth");
  const json fleet = box.run_fleet("--alone brief --time-limit 4", ExitCode::incomplete);
  CHECK(gpu_of(fleet, 1).at("status") == "partial");
  has(reason_of(fleet, 1), "alone, copy_bandwidth: it was not ready within 4 s");
  box.has_figures(1, {"alone"});
  const fs::path alone = box.gpu_folder(1) / "alone";
  for (const int pid : pids_in(alone / "copy_bandwidth.log")) CHECK_FALSE(alive(pid));
  CHECK(number_in(alone / "links.log", "beside") == 1);  // its own other part
}

TEST_CASE("A time limit names the probe that hung", "[e2e][fleet]") {
  FleetBox box({"first", "hang", "zero"});
  const json fleet = box.run_fleet("--alone none --time-limit 3", ExitCode::incomplete);
  CHECK(gpu_of(fleet, 0).at("status") == "partial");
  CHECK(reason_of(fleet, 0) ==
        "suite: it hit its time limit of 3 s (--time-limit) at the probe hang");
}

TEST_CASE(
    "Without MPI a launcher's ranks say what to install, and without fathom-fleet fathom does",
    "[e2e][fleet]") {
  FleetBox box({"first"});
  const fs::path alone = box.folder() / "without" / "fathom";  // and no fathom-fleet-rank beside it
  fs::create_directories(alone.parent_path());
  fs::copy_file(FATHOM_PROGRAM, alone);
  expect(ExitCode::setup_incomplete, run_and_capture(alone, {"fleet", "run"}, 60s))
      .complains("`./fathom fleet` builds it");
  fs::copy_file(fs::path(FATHOM_PROGRAM).replace_filename("fathom-fleet"),
                alone.parent_path() / "fathom-fleet");
  box.set("OMPI_COMM_WORLD_RANK", "0");
  box.set("OMPI_COMM_WORLD_SIZE", "4");
  expect(ExitCode::setup_incomplete, run_and_capture(alone, box.run_words(), 60s))
      .one_line()
      .complains("Open MPI started 4 ranks", "libopenmpi-dev", "--part");
}

TEST_CASE("A failed check beside refused counters is a failed check, beside a crash it is not",
          "[e2e][fleet]") {
  const json fleet = FleetBox({"counters", "mismatch"}).run_fleet("", ExitCode::check_failed);
  CHECK(gpu_of(fleet, 0).at("exit_code") == to_int(ExitCode::check_failed));
  // One of two GPUs fails its check and the other's probe crashes: causes that differ. That one
  // keeps its figures.
  FleetBox two({"sometimes", "mismatch"}, 2);
  two.set("FAKE_BAD_GPU", "1");
  const json both = two.run_fleet("--alone none", ExitCode::incomplete);
  CHECK(statuses(both) == Names{"complete", "partial"});
  has(reason_of(both, 1), "SIGSEGV");
}

TEST_CASE("Counters that were refused are told by who was to collect them, and figures are kept",
          "[e2e][fleet]") {
  const json fleet = FleetBox({"counters", "first"}, 2).run_fleet("", ExitCode::incomplete);
  has(reason_of(fleet, 0), "counters are not permitted");
  CHECK(reason_of(fleet, 1) == "");
  CHECK(gpu_of(fleet, 0).at("status") == "complete");
  REQUIRE(fleet.at("problems").size() == 1);
  CHECK(fleet.at("problems").at(0).at("what") == "box GPU 0");
  CHECK(fleet.at("problems").at(0).at("exit_code") == to_int(ExitCode::counters_unavailable));
}

TEST_CASE("A GPU that computes wrong results is a problem, and a failed check", "[e2e][fleet]") {
  FleetBox box({"first", "mismatch"}, 2);
  for (const char* flags : {"--alone none", "--alone full"}) {
    const json fleet = box.run_fleet(flags, ExitCode::check_failed);
    CHECK(gpu_of(fleet, 1).at("status") == "complete");
    REQUIRE(fleet.at("problems").size() == 2);
    CHECK(fleet.at("problems").at(1).at("exit_code") == to_int(ExitCode::check_failed));
    has(box.page(), "a check failed");
  }
}

TEST_CASE("A folder that takes no documents is told as such", "[e2e][fleet]") {
  FleetBox box({"first"});
  fs::create_directories(box.out());
  write_text(box.out() / "gpus", "a file where a folder should be");
  const CapturedRun run =
      expect(ExitCode::output_unwritable, box.fathom(box.run_words())).one_line();
  lacks(run.errors, "holds no result");
}

TEST_CASE("A part that cannot begin is named", "[e2e][fleet]") {
  FleetBox box({"first", "links"}, 2);
  box.links = true;
  fs::create_directories(box.gpu_folder(0) / "links.log" / "folder");
  const json fleet = box.run_fleet("--alone none", ExitCode::incomplete);
  CHECK(reason_of(fleet, 0).starts_with("links: "));
}

TEST_CASE("What a fleet's run cannot do, it says in one sentence", "[e2e][fleet]") {
  FleetBox box({"first"});
  expect(ExitCode::bad_input, box.fathom(box.run_words("--host-name two\x1blines")))
      .is_one_sentence();
  box.set("FAKE_GPU", "none");
  expect(ExitCode::no_driver, box.fathom(box.run_words())).is_one_sentence();
}
