// `fathom fleet collect` from outside: many jobs' documents, whatever of them is missing or torn.

#include <sys/resource.h>

#include "fleet_run.h"

namespace fathom {
namespace {

/// A simulated fleet in that folder of the sandbox.
void simulate(const Sandbox& box, const std::string& folder, int gpus, int planted) {
  expect(0, box.shell(fmt::format(FATHOM_FLEET_SIMULATE " " FATHOM_RECORDING_FILE
                                                        " --out {} --gpus {} --planted {}",
                                  folder, gpus, planted)));
}

TEST_CASE("A simulated fleet is collected, and its slow cards are named", "[e2e][fleet]") {
  FleetBox box({"first"});
  const fs::path jobs = box.folder() / "jobs";
  simulate(box, "jobs", 400, 5);
  // A host that never came, a card's file that is torn, and one whose writer died.
  fs::remove_all(jobs / "node0007");
  fs::resize_file(jobs / "node0011" / "3" / "gpu.json", 2000);
  write_text(jobs / "node0012" / "gpu.json.77-x.tmp", "{");
  write_text(box.folder() / "hosts", "# all\nnode0007\nnode0011\n\n");
  const std::string collect = "fleet collect jobs --expect-hosts hosts --expect-gpus 400 --out ";
  expect(ExitCode::incomplete, box.call(collect + "out --host node0020 --host nobody")).no_errors();
  const json fleet = box.fleet();
  CHECK(fleet.at("gpus").size() == 391);
  CHECK(fleet.at("named").size() == 5);
  CHECK(fleet.at("problems").size() == 4);
  CHECK(fleet.at("named").at(0).at("findings").at(0).contains("likely_causes"));
  has(box.page(), "REPLAY", "The ten worst", "node0011/3/gpu.json", "host node0007",
      "No host `nobody` has left a result");
  CHECK(fs::exists(box.out() / "report" / "host-node0020.md"));
  // The same again gives the same.
  box.call(collect + "again");
  CHECK(file_text(box.folder() / "again" / "fleet.json") == file_text(box.out() / "fleet.json"));
}

TEST_CASE("A named card fails a strict collection, and no other", "[e2e][fleet]") {
  Sandbox box({"first"});
  simulate(box, "good", 40, 0);
  simulate(box, "bad", 40, 1);
  for (const auto& [flags, expected] :
       {std::pair{"good --strict", ExitCode::ok},
        {"bad", ExitCode::ok},
        {"bad --strict", ExitCode::check_failed},
        // What is missing is worse: of that nobody knows whether it is slow.
        {"bad --strict --expect-gpus 41", ExitCode::incomplete},
        {"bad --strict --least-gap 50", ExitCode::ok}}) {
    CAPTURE(flags);
    expect(expected, box.call(std::string("fleet collect --no-report ") + flags)).no_errors();
  }
}

/// What a fleet of 10,000 may take, 10 s on two processors and 1 GiB, as the share of this one; the
/// pictures take the same time for any. FATHOM_FLEET_TEST_GPUS asks for another size.
TEST_CASE("A large fleet is collected within its time and memory", "[e2e][fleet]") {
  const char* asked = std::getenv("FATHOM_FLEET_TEST_GPUS");
  const int gpus = asked ? std::atoi(asked) : 1000, planted = gpus / 100;
  const double share = gpus / 10'000.0, pictures_s = 2, start_mib = 64;
  FleetBox box({"first"});
  simulate(box, "jobs", gpus, planted);
  const double before_s = children_cpu_s();
  expect(0, box.call("fleet collect jobs --out out"));
  CHECK(children_cpu_s() - before_s < 2 * 10 * share + pictures_s);
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);  // of the largest: making the fleet takes less
  CHECK(static_cast<double>(usage.ru_maxrss) / 1024 < 1024 * share + start_mib);
  const json fleet = box.fleet();
  CHECK(fleet.at("gpus").size() == static_cast<std::size_t>(gpus));
  CHECK(fleet.at("links").size() == static_cast<std::size_t>(gpus / 8));
  CHECK(fleet.at("named").size() >= static_cast<std::size_t>(planted));
  CHECK(fleet.at("named").size() <= static_cast<std::size_t>(planted + gpus / 1000));
  CHECK(fs::file_size(box.out() / "report" / "README.md") < 1 << 20);
}

TEST_CASE("Plain runs of several hosts are collected as well", "[e2e][fleet]") {
  FleetBox box({"first"});
  for (const std::string gpu : {"GPU-0", "GPU-1", "GPU-2"}) {
    box.set("CUDA_VISIBLE_DEVICES", gpu);
    expect(0, box.call("run --no-report --out out/" + gpu));
  }
  const json fleet = box.collect();
  REQUIRE(fleet.at("gpus").size() == 3);
  CHECK(fleet.at("gpus").at(1).at("host") == "GPU-1");
  // What collect itself left is no job's.
  box.collect();
}

}  // namespace
}  // namespace fathom
