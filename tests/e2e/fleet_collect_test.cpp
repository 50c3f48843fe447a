// `fathom fleet collect` from outside: many jobs' documents, whatever of them is missing or torn.

#include <sys/resource.h>

#include "fleet_run.h"

namespace fathom {
namespace {

/// A simulated fleet below `folder`.
void simulate(const fs::path& folder, int gpus, int planted) {
  expect(0, run_and_capture(FATHOM_FLEET_SIMULATE,
                            {FATHOM_RECORDING_FILE, "--out", folder.string(), "--gpus",
                             std::to_string(gpus), "--planted", std::to_string(planted)},
                            60s));
}

TEST_CASE("A simulated fleet is collected, and its slow cards are named", "[e2e][fleet]") {
  Sandbox box({"first"});
  const fs::path jobs = box.folder() / "jobs";
  simulate(jobs, 400, 5);
  // A host that never came, a card's file that is torn, and one whose writer died.
  fs::remove_all(jobs / "node0007");
  const fs::path torn = jobs / "node0011" / "3" / "gpu.json";
  fs::resize_file(torn, 2000);
  write_text(jobs / "node0012" / "gpu.json.77-x.tmp", "{");
  write_text(box.folder() / "hosts", "# all\nnode0007\nnode0011\n\n");
  expect(ExitCode::incomplete,
         box.fathom({"fleet", "collect", "jobs", "--out", "out", "--expect-hosts", "hosts",
                     "--expect-gpus", "400", "--host", "node0020", "--host", "nobody"}))
      .no_errors();
  const json fleet = fleet_of(box.out());
  CHECK(fleet.at("gpus").size() == 391);
  CHECK(fleet.at("named").size() == 5);
  CHECK(fleet.at("problems").size() == 4);
  CHECK(fleet.at("named").at(0).at("findings").at(0).contains("likely_causes"));
  has(page_of(box.out()), "REPLAY", "The ten worst", "node0011/3/gpu.json", "host node0007",
      "No host `nobody` has left a result");
  CHECK(fs::exists(box.out() / "report" / "host-node0020.md"));
  // The same again gives the same.
  box.fathom({"fleet", "collect", "jobs", "--out", "again", "--expect-hosts", "hosts",
              "--expect-gpus", "400"});
  CHECK(file_text(box.folder() / "again" / "fleet.json") == file_text(box.out() / "fleet.json"));
}

TEST_CASE("A named card fails a strict collection, and no other", "[e2e][fleet]") {
  Sandbox box({"first"});
  const auto collect = [&](ExitCode expected, std::string jobs,
                           std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"fleet", "collect", jobs, "--no-report"});
    expect(expected, box.fathom(more)).no_errors();
  };
  simulate(box.folder() / "good", 40, 0);
  collect(ExitCode::ok, "good", {"--strict"});
  simulate(box.folder() / "bad", 40, 1);
  collect(ExitCode::ok, "bad");
  collect(ExitCode::check_failed, "bad", {"--strict"});
  // What is missing is worse: of that nobody knows whether it is slow.
  collect(ExitCode::incomplete, "bad", {"--strict", "--expect-gpus", "41"});
  collect(ExitCode::ok, "bad", {"--strict", "--least-gap", "50"});
}

/// What a fleet of 10,000 may take, 10 s on two processors and 1 GiB, as the share of this one; the
/// pictures take the same time for any. FATHOM_FLEET_TEST_GPUS asks for another size.
TEST_CASE("A large fleet is collected within its time and memory", "[e2e][fleet]") {
  const char* asked = std::getenv("FATHOM_FLEET_TEST_GPUS");
  const int gpus = asked ? std::atoi(asked) : 1000, planted = gpus / 100;
  const double share = gpus / 10'000.0, pictures_s = 2, start_mib = 64;
  Sandbox box({"first"});
  simulate(box.folder() / "jobs", gpus, planted);
  const double before_s = children_cpu_s();
  expect(0, box.fathom({"fleet", "collect", "jobs", "--out", "out"}));
  CHECK(children_cpu_s() - before_s < 2 * 10 * share + pictures_s);
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);  // of the largest: making the fleet takes less
  CHECK(static_cast<double>(usage.ru_maxrss) / 1024 < 1024 * share + start_mib);
  const json fleet = fleet_of(box.out());
  CHECK(fleet.at("gpus").size() == static_cast<std::size_t>(gpus));
  CHECK(fleet.at("links").size() == static_cast<std::size_t>(gpus / 8));
  CHECK(fleet.at("named").size() >= static_cast<std::size_t>(planted));
  CHECK(fleet.at("named").size() <= static_cast<std::size_t>(planted + gpus / 1000));
  CHECK(fs::file_size(box.out() / "report" / "README.md") < 1 << 20);
}

TEST_CASE("Plain runs of several hosts are collected as well", "[e2e][fleet]") {
  Sandbox box({"first"});
  for (const char* gpu : {"GPU-0", "GPU-1", "GPU-2"}) {
    box.set("CUDA_VISIBLE_DEVICES", gpu);
    expect(0, box.fathom({"run", "--out", std::string("jobs/") + gpu, "--no-report"}));
  }
  expect(0, box.fathom({"fleet", "collect", "jobs"}));
  const json fleet = fleet_of(box.folder() / "jobs");
  REQUIRE(fleet.at("gpus").size() == 3);
  CHECK(fleet.at("gpus").at(1).at("host") == "GPU-1");
  // What collect itself left is no job's.
  expect(0, box.fathom({"fleet", "collect", "jobs"}));
}

TEST_CASE("What cannot be collected is told in one sentence", "[e2e][fleet]") {
  Sandbox box({"first"});
  const auto refused = [&](std::vector<std::string> words, const std::string& saying) {
    words.insert(words.begin(), {"fleet", "collect"});
    expect(ExitCode::bad_input, box.fathom(words)).one_line().complains(saying);
  };
  fs::create_directories(box.folder() / "empty");
  refused({"empty"}, "holds no result");
  refused({"nowhere"}, "cannot be read");
  refused({}, "DIR is required");
  refused({"x", "--expect-gpus", "none"}, "not a whole number");
  refused({"x", "--least-gap", "0"}, "not a number above 0");
  refused({"x", "--expect-hosts", "/nowhere"}, "/nowhere");
  refused({"x", "--bogus"}, "--bogus");
  expect(ExitCode::bad_input, box.fathom({"fleet", "colect"})).complains("collect");
}

}  // namespace
}  // namespace fathom
