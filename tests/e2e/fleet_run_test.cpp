// `fathom fleet run` from outside, by one process: all GPUs of a host, in turn and together; and
// with `--part`, as independent jobs that write into one folder.

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/file.h>

#include "fleet_run.h"
#include "tools/programs.h"

using namespace fathom;

TEST_CASE("One process measures all GPUs of a host, alone and together", "[e2e][fleet]") {
  FleetBox box({"first"}, 3);
  const json fleet = box.run_fleet();
  CHECK(statuses(fleet) == Names(3, "complete"));
  REQUIRE(box.summary(2).at("metrics").at("name").size() == 2);
  box.has_figures(2, {"alone", "together"});
  CHECK(box.summary(2).at("uuid_hash") == "0123456789abcde2");
  CHECK(gpu_of(fleet, 1).at("health").at("pcie_width") == 8);
  CHECK(fs::exists(box.gpu_folder(1) / "suite" / "result.json"));
  has(box.page(), "Alone and together");
  has(file_text(box.out() / "report" / "host-box.md"), "x8");
}

TEST_CASE("Alone is in turn, all made ready before", "[e2e][fleet]") {
  FleetBox box({"links", "copy_bandwidth", "atlas_first"}, 3);
  // The fakes are of the group core, which holds what together needs; of another suite it is run.
  box.run_fleet("--alone brief --suite atlas-quick");
  for (const char* probe : {"links", "copy_bandwidth"}) box.check_turns(3, probe);
  // Together all begin before any ends.
  for (int gpu = 0; gpu < 3; ++gpu)
    CHECK(number_in(box.gpu_folder(0) / "together" / "links.log", "ended") >
          number_in(box.gpu_folder(gpu) / "together" / "links.log", "began"));
  const json metrics = box.summary(2).at("metrics");
  REQUIRE(metrics.at("name").size() == 6);  // two cases each of the brief ones and the suite's
  box.has_figures(2, {"alone", "together"});
  CHECK(metrics.at("alone").at(5).is_null());
}

/// CPUs that this process may use.
static std::vector<int> own_cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

TEST_CASE("What measures a GPU runs on the CPUs near it", "[e2e][fleet]") {
  const std::vector<int> cpus = own_cpus();
  if (cpus.size() < 2) SKIP("there is only one CPU");
  // Two GPUs, since the only one of a host is not measured alone.
  FleetBox box({"links", "copy_bandwidth"}, 2);
  const auto check = [&](const char* log, const std::string& on) {
    has(file_text(box.gpu_folder(0) / log), "\ncpus " + on + "\n");
  };
  const fs::path near = box.folder() / "pci" / "0000:00:00.0" / "local_cpulist";
  fs::create_directories(near.parent_path());
  write_text(near, fmt::format("{0}-{0},{0}\n", cpus.back()));
  box.run_fleet("--alone brief");
  for (const char* log : {"suite/logs/links.log", "alone/links.log"})
    check(log, std::to_string(cpus.back()));
  // The kernel does not say: as it was.
  fs::remove(near);
  box.run_fleet("--alone brief");
  check("suite/logs/links.log", fmt::format("{}", fmt::join(cpus, " ")));
}

TEST_CASE("A run reports its own GPUs and links, and none of an earlier run's", "[e2e][fleet]") {
  FleetBox box({"first", "atlas_first", "links"}, 3);
  box.links = true;
  const json all = box.run_fleet("--alone none");
  CHECK(all.at("gpus").size() == 3);
  CHECK(all.at("links").size() == 1);
  const fs::path links = box.gpu_folder(0) / "links" / "links.json";
  CHECK(json::parse(file_text(links)).at("run") == all.at("gpus").at(2).at("run"));
  write_text(box.out() / "gpus" / "box-7" / "gpu.json.1-a.tmp", "{");
  box.set("CUDA_VISIBLE_DEVICES", "GPU-1");
  box.links = false;
  const json fleet = box.run_fleet();
  REQUIRE(fleet.at("gpus").size() == 1);
  CHECK(fleet.at("gpus").at(0).at("uuid_hash") == "0123456789abcde1");
  CHECK(fleet.at("gpus").at(0).at("gpu") == 1);  // the same one's as before
  CHECK(fleet.at("links").empty());
  CHECK(fleet.at("problems").empty());
  // What all of them left is what `collect` is for.
  const json collected = box.collect();
  CHECK(collected.at("gpus").size() == 3);
  CHECK(collected.at("links").size() == 1);
}

TEST_CASE("A run keeps off the GPUs that another measures into the same folder", "[e2e][fleet]") {
  FleetBox box({"first"}, 3);
  box.run_fleet();
  std::vector<FileDescriptor> held;
  const auto hold = [&](int gpu) {
    held.emplace_back(open((box.gpu_folder(gpu) / ".lock").c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(flock(held.back().get(), LOCK_EX | LOCK_NB) == 0);
  };
  hold(0);
  CHECK(code(box.fathom(box.run_words())) != 0);
  for (const int gpu : {1, 2}) {  // with all of their parts
    CAPTURE(gpu);
    box.has_figures(gpu, {"alone"});
    hold(gpu);
  }
  fs::remove(box.out() / "fleet.json");
  expect(ExitCode::gpu_busy, box.fathom(box.run_words()))
      .complains("choose another folder with --out");
  CHECK_FALSE(fs::exists(box.out() / "fleet.json"));
}

TEST_CASE("Jobs of one GPU each on one host keep out of each other's folders", "[e2e][fleet]") {
  FleetBox box({"lasting"}, 4);
  const Gate gate(box);
  const auto words = box.run_words("--part");
  std::vector<std::unique_ptr<Background>> jobs;
  for (const char* gpu : {"GPU-0", "GPU-1", "GPU-2", "GPU-3"}) {
    box.set("CUDA_VISIBLE_DEVICES", gpu);
    jobs.push_back(std::make_unique<Background>(words));
  }
  for (int gpu = 0; gpu < 4; ++gpu)
    REQUIRE(wait_for_text(box.gpu_folder(gpu) / "suite" / "logs" / "lasting.log", "log of"));
  // The last one's GPU again, while it is measured.
  expect(ExitCode::gpu_busy, box.fathom(words)).complains("another job measures box GPU");
  gate.open();
  for (auto& job : jobs) {
    const int status = job->wait();
    INFO(job->output());
    CHECK(status == 0);
  }
  CHECK(box.collect().at("gpus").size() == 4);
  // Once more: it finds its own again.
  expect(0, box.fathom(words));
  CHECK_FALSE(fs::exists(box.gpu_folder(4)));
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

TEST_CASE("The two probes that collect counters longest are never one GPU's of several", "[e2e]") {
  const auto probes = select_probes(find_probes(fs::path(FATHOM_PROGRAM).parent_path()), {},
                                    *find_run_suite("quick"));
  const auto place_of = [&](const char* probe) {
    const auto at = std::ranges::find(probes, probe, &ProbeBinary::name);
    REQUIRE(at != probes.end());
    return at - probes.begin();
  };
  // They are dealt out in turn.
  for (int gpus = 2; gpus <= 8; ++gpus)
    CHECK(place_of("model_validation") % gpus != place_of("copy_bandwidth") % gpus);
}
